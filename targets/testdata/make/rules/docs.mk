include ../Makefile
docs: ## Build the manual
	man app
build: more
	@echo second definition
