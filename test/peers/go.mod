module github.com/cadastre/cadastre/test/peers

go 1.26.0
