"""Composes `stories.txt`, the text that the example trains on: `python compose.py > stories.txt`.

Hand-written passages alternate with short stories that a seeded grammar puts together. The grammar keeps people,
places and things consistent within a story, so that there is something to learn from the context.
"""

import random

SEED = 7
STORIES = 118

PEOPLE = (
    ("Mara", "she", "her", "the lamp keeper"),
    ("Tobin", "he", "his", "the ferryman"),
    ("Ilse", "she", "her", "the clock mender"),
    ("Anselm", "he", "his", "the baker"),
    ("Oda", "she", "her", "the map maker"),
    ("Perrin", "he", "his", "the beekeeper"),
    ("Juno", "she", "her", "the bell ringer"),
    ("Corwin", "he", "his", "the stone cutter"),
)
PLACES = (
    ("harbour", "by the harbour", ("gulls", "ropes", "nets", "boats")),
    ("forest", "at the edge of the forest", ("owls", "ferns", "pines", "foxes")),
    ("market", "in the old market", ("stalls", "baskets", "awnings", "pigeons")),
    ("mountain", "under the mountain", ("goats", "boulders", "springs", "caves")),
    ("river", "along the river", ("reeds", "herons", "stones", "bridges")),
    ("village", "in the upper village", ("chimneys", "fences", "wells", "orchards")),
)
SEASONS = (
    ("winter", "snow", "cold", ("lay on the roofs", "covered the path", "fell all night")),
    ("spring", "rain", "mild", ("washed the steps", "filled the wells", "came with the evening")),
    ("summer", "dust", "warm", ("hung over the road", "settled on the windows", "rose behind the carts")),
    ("autumn", "fog", "grey", ("hid the hills", "crept up the valley", "stayed until noon")),
)
THINGS = (
    ("lantern", "lit", "light", "glass"),
    ("clock", "wound", "time", "brass"),
    ("letter", "read", "news", "paper"),
    ("key", "turned", "way", "iron"),
    ("map", "unfolded", "road", "linen"),
    ("bell", "rang", "sound", "bronze"),
    ("loaf", "broke", "bread", "rye"),
    ("jar", "opened", "honey", "clay"),
)
NUMBERS = ("two", "three", "four", "five", "six", "seven")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

PASSAGES = (
    "A model of language is a careful guess about the next word. It looks at the words around a gap, remembers what "
    "it has read before, and says which word belongs there. When it is wrong, it changes a little; when it is right, "
    "it changes less. After many small changes the guesses become good.",
    "A tensor is a block of numbers with a shape. The shape says how many rows there are, how many columns, and how "
    "many layers behind them. Two tensors of the same shape can be added number by number. A tensor with one row can "
    "be added to a tensor with many rows, because the one row is used again for each of them.",
    "To train is to walk downhill in the dark. The gradient tells you which way is down under your feet, and nothing "
    "else. Small steps are safe and slow. Large steps are quick until they carry you across the valley and up the "
    "other side. Most of the art is in the size of the step.",
    "The old library kept its books in the order in which they had arrived. Nobody could find anything, and everybody "
    "found something. When the new keeper sorted the shelves, the readers thanked her, and for a whole year they "
    "borrowed only the books that they already knew.",
    "Water finds the lowest place, smoke finds the highest, and cats find the warmest. The child who noticed this at "
    "breakfast had explained most of the house by dinner. Only the stairs remained a mystery, because everything on "
    "them was always on its way to somewhere else.",
    "A bridge is a promise between two banks. The engineers who built ours tested it with carts full of stone, first "
    "one cart, then two, then four, until the whole road was stone on wheels and the bridge had not moved. Then they "
    "took the carts away and let the children run across it.",
    "Attention is a question asked of every word at once. Each word answers with how much it matters, the answers are "
    "made to sum to one, and what the words have to say is mixed in those parts. Ask several questions at the same "
    "time and each of them may listen for something else.",
    "The tide tables hung beside the door, and nobody looked at them. Those who lived by the water knew the hour from "
    "the smell of the mud and from the sound of the chains. Visitors read the tables, were wrong by an hour, and were "
    "pulled out of the mud by those who had never learned to read them.",
)


def story(rng: random.Random) -> str:
    """Compose one story: an opening, the errand, a difficulty, and how it ended."""
    name, pronoun, possessive, trade = rng.choice(PEOPLE)
    friend, friend_pronoun, _, friend_trade = rng.choice([p for p in PEOPLE if p[0] != name])
    place, where, sights = rng.choice(PLACES)
    season, weather, feeling, weathers = rng.choice(SEASONS)
    thing, verb, gift, material = rng.choice(THINGS)
    number, day = rng.choice(NUMBERS), rng.choice(DAYS)
    first, second = rng.sample(sights, 2)
    openings = (
        f"{name} was {trade} and lived {where}.",
        f"Everyone {where} knew {name}, {trade}.",
        f"In the {season}, {name}, {trade}, stayed {where}.",
    )
    errands = (
        f"On {day} {pronoun} carried a {thing} of {material} past the {first} and the {second}.",
        f"Every {day} {pronoun} took {possessive} {thing} and counted the {first} on the way.",
        f"{number.capitalize()} days before, {friend}, {friend_trade}, had asked for the {thing}.",
    )
    troubles = (
        f"It was {season}, and {weather} {rng.choice(weathers)}.",
        f"The air was {feeling}, the {weather} {rng.choice(weathers)}, and nobody was on the road.",
        f"But the {thing} was gone, and only the {second} had seen who took it.",
    )
    turns = (
        f'"Where is the {thing}?" asked {friend}. "Behind the {first}," said {name}, "where it always was."',
        f'{friend} waited by the {second}. "You are late," {friend_pronoun} said, "but the {gift} is not."',
        f"{name} and {friend} looked for {number} hours among the {first} and found it under the {second}.",
    )
    endings = (
        f"So {pronoun} {verb} the {thing}, and there was {gift} in the {place} again.",
        f"When {pronoun} {verb} the {thing}, the {place} was quiet and the {gift} was enough for all.",
        f"Since that {day} the {thing} has stayed {where}, and {friend} comes for the {gift} in every {season}.",
    )
    return " ".join(rng.choice(part) for part in (openings, errands, troubles, turns, endings))


def main() -> None:
    """Print the text, one paragraph per line."""
    rng = random.Random(SEED)
    step = STORIES // len(PASSAGES)
    for index in range(STORIES):
        if index % step == 0 and index // step < len(PASSAGES):
            print(PASSAGES[index // step])
        print(story(rng))


if __name__ == "__main__":
    main()
