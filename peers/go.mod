module github.com/cadastre/cadastre/peers

go 1.26.0
