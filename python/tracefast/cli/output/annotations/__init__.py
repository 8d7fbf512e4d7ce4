"""Documents in which machines of continuous integration take results: JUnit, SARIF, GitHub."""
