"""How the guide is built: `make docs` writes it to `docs/_build/html`, and any warning is an error."""

import sys
from pathlib import Path

import coquina

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "coquina"
author = "the authors of coquina"
version = release = coquina.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "api_pages", "outside", "redirects", "unlisted"]
exclude_patterns = ["_build"]
nitpicky = True

html_theme = "furo"
html_title = f"coquina {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_show_copyright = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
# Docstrings name classes of NumPy, h5py and the standard library, which are not looked up.
nitpick_ignore_regex = [("py:.*", ".*")]
# Types in signatures are short names, of which two modules may have one each (`hdf5.Group`, `stores.Group`).
suppress_warnings = ["ref.python"]

linkcheck_timeout = 20
linkcheck_retries = 2
