"""One module a runtime. A new module in this folder is a new runtime: nothing else lists them."""
