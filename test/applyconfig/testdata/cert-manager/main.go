package main

import (
	"example.com/projects/program"

	certmanagerv1 "example.com/projects/cert-manager/certmanager/v1"
)

func main() {
	program.Run(map[string]any{
		"author": certmanagerv1.Certificate("web", "default").
			WithLabels(map[string]string{"app": "web", "tier": "front"}).
			WithSpec(certmanagerv1.CertificateSpec().
				WithSecretName("web-tls").WithDNSNames("example.com").WithDuration("2160h").
				WithIssuerRef(certmanagerv1.CertificateSpecIssuerRef().WithName("ca").WithKind("Issuer")).
				WithPrivateKey(certmanagerv1.CertificateSpecPrivateKey().WithAlgorithm("RSA").WithSize(4096))),
		"remover": certmanagerv1.Certificate("web", "default").
			UnsetLabelsEntry("tier").
			WithSpec(certmanagerv1.CertificateSpec().
				UnsetDuration().UnsetRenewBefore().
				WithPrivateKey(certmanagerv1.CertificateSpecPrivateKey().UnsetSize())),
	}, func(object any, manager string) (any, error) {
		return certmanagerv1.ExtractCertificate(object, manager)
	})
}
