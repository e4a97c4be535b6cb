class Batch:
    def __init__(self, records):
        self.records=records
        self.at=0
    def run(self):
        for self.at, record in enumerate(self.records):
            record[0](record[1], record[2], record[3])
