"""Names that stand in an address as they are: slashes in them, even first or in a row, belong to the name."""

from werkzeug.routing import BaseConverter


class Whole(BaseConverter):
    """Everything to the address's end. Its route is to be made with merge_slashes=False."""

    part_isolating = False
    regex = ".+"
    weight = 300
