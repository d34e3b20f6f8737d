"""What of the catalog belongs in the index: every video that plays, with its privacy."""

from collections.abc import Iterator

from shared.search import Document
from shared.search.writer import IndexWriter
from shared.videos import PLAYS, Catalog, Video


def belongs(video: Video) -> bool:
    return video.state in PLAYS


def document_of(video: Video) -> Document:
    return Document(
        video=video.id,
        revision=video.revision,
        title=video.title,
        description=video.description,
        tags=video.tags,
        actors=video.actors,
        directors=video.directors,
        channel=video.channel,
        owner=video.owner,
        language=video.language,
        privacy=video.privacy,
        published=video.published or video.created,
    )


def entries(catalog: Catalog) -> Iterator[Document]:
    """The whole index, from the catalog as it is now."""
    return (document_of(video) for video in catalog.all() if belongs(video))


def rebuild(catalog: Catalog, writer: IndexWriter) -> int:
    """Make the index anew, whatever is published; search goes on in the old one meanwhile. Returns its documents."""
    with writer.turn() as turn:
        return turn.replace(entries(catalog))
