module github.com/cadastre/cadastre/test/soak

go 1.26.0
