/// The findings of `outpost-server check` about security configurations.
enum SecurityCheck {
    static func findings(
        of application: ActiveApplication, _ server: ServerConfiguration
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
            case .cookie:
                findings.append(
                    CheckFinding(.error, subject, message: "This build does not check cookies. Use another kind."))
            case .certificate where server.server.clientCA == nil:
                findings.append(CheckFinding(.error, subject, message: "Certificates need server.tls.client_ca."))
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
}
