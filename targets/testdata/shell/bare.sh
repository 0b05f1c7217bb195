echo bare
