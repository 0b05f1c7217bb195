more:
    @echo spaces, not a tab
deploy:
	true
