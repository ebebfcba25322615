import HTTPTypes

/// The size limits of a request's head.
///
/// Requests beyond a limit are refused with 414 or 431. Requests far beyond it close the connection, because
/// their end cannot be found.
public struct RequestLimits: Sendable, Hashable {
    /// The maximum number of bytes of the path and the query.
    public var maxURLLength: Int
    /// The maximum number of header fields.
    public var maxFieldCount: Int
    /// The maximum number of bytes of all header fields, including their names.
    public var maxFieldsSize: Int

    /// Creates limits.
    public init(maxURLLength: Int = 65_536, maxFieldCount: Int = 200, maxFieldsSize: Int = 65_536) {
        self.maxURLLength = maxURLLength
        self.maxFieldCount = maxFieldCount
        self.maxFieldsSize = maxFieldsSize
    }

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
