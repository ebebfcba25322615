/// The names of the durable values of a session.
enum SessionRecordNames {
    static let profile = "profile"
    static let progress = "progress"
    static let policies = "policies"
    static let contact = "contact"
}
