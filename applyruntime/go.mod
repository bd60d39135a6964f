module github.com/cadastre/cadastre/applyruntime

go 1.24.0
