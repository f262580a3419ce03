"""The server of `coquina serve` and `coquina view`: files of a folder over HTTP, as docs/http-api.md says."""
