extension SecurityConfiguration {
    /// Whether a request of a registration carries credentials, so that its user can prove to be the same.
    var hasCredentials: Bool {
        switch kind {
        case .basic, .bearer, .certificate, .cookie: true
        case .anonymous, .activation: false
        }
    }

    /// The value of `WWW-Authenticate`; `nil` if there is no challenge.
    var challenge: String? {
        switch kind {
        case .basic: #"Basic realm="Outpost", charset="UTF-8""#
        case .bearer: "Bearer"
        case .anonymous, .certificate, .activation, .cookie: nil
        }
    }
}

extension ApplicationConfiguration {
    /// Returns the security configuration with a name, or the only one if no name is given.
    func signIn(named name: String?) -> (name: String, configuration: SecurityConfiguration)? {
        if let name { return security[name].map { (name, $0) } }
        guard security.count == 1, let only = security.first else { return nil }
        return (only.key, only.value)
    }
}
