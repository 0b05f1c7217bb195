fine:
	true
this is not make
