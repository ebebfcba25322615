import HTTPTypes

/// How much a request may state before its body.
///
/// Requests beyond are refused with 414 and 431; those far beyond end the connection, since nobody can tell where
/// they end.
public struct RequestLimits: Sendable, Hashable {
    /// The most bytes of the URL below the host.
    public var maxURLLength: Int
    /// The most header fields.
    public var maxFieldCount: Int
    /// The most bytes of all header fields together, names included.
    public var maxFieldsSize: Int

    /// Makes limits.
    public init(maxURLLength: Int = 65_536, maxFieldCount: Int = 200, maxFieldsSize: Int = 65_536) {
        self.maxURLLength = maxURLLength
        self.maxFieldCount = maxFieldCount
        self.maxFieldsSize = maxFieldsSize
    }

    /// What exceeds a limit.
    func refusal(of head: HTTPRequest) -> Refusal? {
        if (head.path ?? "").utf8.count > maxURLLength {
            return Refusal(
                status: .init(code: 414), code: "URITooLong", message: "The URL exceeds \(maxURLLength) bytes.")
        }
        let size = head.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        guard head.headerFields.count > maxFieldCount || size > maxFieldsSize else { return nil }
        return Refusal(
            status: .init(code: 431), code: "RequestHeaderFieldsTooLarge",
            message: "A request has at most \(maxFieldCount) header fields of \(maxFieldsSize) bytes together.")
    }
}
