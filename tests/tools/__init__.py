"""Tools of developers: nothing of them is needed to run the site or the library."""
