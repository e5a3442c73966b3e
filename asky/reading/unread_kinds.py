"""Kinds of files that are known by their suffix to hold no text, or none that anybody wrote: they are not opened."""

from __future__ import annotations

_SUFFIXES = {
    "image": "png jpg jpeg gif webp bmp tif tiff ico svg heic avif psd ai eps",
    "sound file": "mp3 wav flac ogg m4a aac",
    "video": "mp4 mov avi mkv webm wmv",
    "archive": "zip tar gz tgz bz2 xz 7z rar jar war whl egg iso img dmg deb rpm apk",
    "program": "exe dll so dylib a o obj class pyc pyo",
    "font": "woff woff2 ttf otf eot",
    "database": "sqlite sqlite3 mdb",
    "data file": "bin dat parquet feather arrow npy npz pkl pickle h5 hdf5 pt pth onnx safetensors gguf",
    "old office file": "doc ppt pages numbers slk dif dbf uos uot uop",
    "book or page file": "mobi azw3 djvu xps webarchive",
    "key file": "key",
    "generated file": "lock map min.js min.css",
}
KINDS = {f".{suffix}": kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
"""The kind of the files with each suffix, such as "image" for `.png`."""


def unread_suffix(name: str) -> str | None:
    """Return the suffix of a file that is not opened, such as `.png` or `.min.js`; `None` for any other file."""
    lower = name.lower()
    dot = lower.rfind(".")
    if dot <= 0:
        return None
    longer = lower.rfind(".", 0, dot)
    return next((lower[at:] for at in (longer, dot) if at > 0 and lower[at:] in KINDS), None)
