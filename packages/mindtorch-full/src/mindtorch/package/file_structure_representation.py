"""`torch.package.file_structure_representation`: the files of a package as a tree."""

from __future__ import annotations

from collections.abc import Iterable

from mindtorch._naming import adopt

from .glob_group import GlobGroup, GlobPattern

__all__ = ["Directory"]


class Directory:
    """A folder, or a file, which has no children. `PackageImporter.file_structure` makes them.

    >>> import io
    >>> kept = io.BytesIO()
    >>> with torch.package.PackageExporter(kept) as exporter:
    ...     exporter.save_text("notes", "a.txt", "text")
    >>> kept.seek(0)
    0
    >>> directory = torch.package.PackageImporter(kept).file_structure(include="**/*.txt")
    >>> directory.has_file("notes/a.txt")
    True
    """

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name = name
        self.is_dir = is_dir
        self.children: dict[str, Directory] = {}

    def _add_file(self, file_path: str) -> None:
        *folders, name = file_path.split("/")
        place = self
        for folder in folders:
            place = place.children.setdefault(folder, Directory(folder, True))
        place.children[name] = Directory(name, False)

    def has_file(self, filename: str) -> bool:
        """Whether there is a file or folder of this path."""
        name, slash, rest = filename.partition("/")
        child = self.children.get(name)
        return child is not None and (not slash or child.has_file(rest))

    def __str__(self) -> str:
        return "\n".join(["─── " + self.name, *self._lines("    ")]) + "\n"

    def _lines(self, indent: str) -> Iterable[str]:
        # Folders first, each group by name.
        children = sorted(self.children.values(), key=lambda one: (not one.is_dir, one.name))
        for child in children:
            last = child is children[-1]
            yield f"{indent}{'└── ' if last else '├── '}{child.name}"
            yield from child._lines(indent + ("    " if last else "│   "))


def _create_directory_from_file_list(
    filename: str, file_list: Iterable[str], include: GlobPattern = "**", exclude: GlobPattern = ()
) -> Directory:
    """Return the tree of those files that match, below a folder called `filename`."""
    wanted = GlobGroup(include, exclude=exclude, separator="/")
    top = Directory(filename, True)
    for file in filter(wanted.matches, file_list):
        top._add_file(file)
    return top


adopt(globals())
