extension ApplicationConfiguration {
    /// The places to which the server sends credentials, and the files that it serves.
    ///
    /// Otherwise, a person with the right to change configurations could read a secret of the server by sending it to a
    /// place of their own, or any database that the server can read. A version with new places is activated by two
    /// operators, or by one with the role *security*, which includes the right to set secrets.
    var reach: Set<String> {
        Set(
            destinations.values.compactMap { destination in
                let given = destination.authentication
                guard destination.kind == .sqlite || given.kind != .none else { return nil }
                let parts = [
                    destination.kind.rawValue, destination.url, given.kind.rawValue, given.tokenURL, given.certificate,
                    given.secret?.description, given.key?.description, given.feedSecret?.description,
                ]
                return parts.map { $0 ?? "" }.joined(separator: "\n")
            })
    }
}
