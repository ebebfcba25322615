/// The findings of `outpost-server check` about security configurations.
enum SecurityCheck {
    static func findings(
        of application: ActiveApplication, _ server: ServerConfiguration, folder: String
    ) -> [CheckFinding] {
        let name = application.record.name
        var findings: [CheckFinding] = []
        if application.configuration.security.isEmpty {
            findings.append(
                CheckFinding(
                    .warning, "application \(name)",
                    message: "No device can register: there is no security configuration."))
        }
        for (key, security) in application.configuration.security.sorted(by: { $0.key < $1.key }) {
            let subject = "security \(name)/\(key)"
            switch security.kind {
            case .bearer where security.issuer == nil || security.audience == nil:
                findings.append(CheckFinding(.error, subject, message: "Tokens need an issuer and an audience."))
            case .cookie where security.checkURL == nil || security.cookie == nil:
                findings.append(
                    CheckFinding(.error, subject, message: "A cookie needs its name and the URL that checks it."))
            case .cookie where !(security.checkURL.map(TokenIssuers.isAllowed) ?? true),
                .basic where !(security.checkURL.map(TokenIssuers.isAllowed) ?? true):
                findings.append(
                    CheckFinding(
                        .error, subject, message: "check_url needs https: credentials would be readable on the way."))
            case .certificate where server.server.clientCA == nil:
                findings.append(CheckFinding(.error, subject, message: "Certificates need server.tls.client_ca."))
            case .certificate where security.ca.map { !isReadable($0, folder) } ?? false:
                findings.append(
                    CheckFinding(.error, subject, message: "The authorities in \(security.ca ?? "") cannot be read."))
            case .anonymous where application.configuration.registration.deviceProof == .none:
                findings.append(
                    CheckFinding(
                        .warning, subject,
                        message: "Whoever knows the id of a registration can use it. Set device_proof to key."
                    ))
            default: findings.append(CheckFinding(.fine, subject, message: "Devices can sign in."))
            }
        }
        return findings
    }

    private static func isReadable(_ file: String, _ folder: String) -> Bool {
        let certificates = try? CertificateAuthorities(folder: folder).certificates(in: file)
        return certificates.map { !$0.isEmpty } ?? false
    }
}
