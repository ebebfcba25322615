/// A header field of a request or response within a batch.
public struct BatchHeader: Hashable, Sendable {
    /// The name, which is compared without regard to case.
    public var name: String
    /// The value of the field.
    public var value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension Sequence<BatchHeader> {
    /// Returns the value of the first field with a name, without regard to case.
    public func value(of name: String) -> String? {
        let lower = name.lowercased()
        return first { $0.name.lowercased() == lower }?.value
    }
}

/// One request of a batch (OData 4.01, 11.7 *Batch Requests*).
public struct BatchRequestPart: Hashable, Sendable {
    /// The request id (`Content-ID` in multipart), by which other requests refer to this request; `nil` for none.
    public var id: String?
    /// The HTTP method.
    public var method: String
    /// The URL: absolute, relative, or starting with `$` and the id of another request.
    public var url: String
    /// The header fields.
    public var headers: [BatchHeader]
    /// The body; empty for none.
    public var body: [UInt8]
    /// The group, whose requests succeed or fail together and are adjacent.
    public var atomicityGroup: String?
    /// The ids of requests and groups that must succeed before this request; JSON batches only.
    public var dependsOn: [String]
    /// An expression over earlier responses, which must be true for the request to be executed. JSON batches only
    /// (OData JSON Format 4.01, 19.1: `if`).
    public var condition: String?
    /// The error that prevents reading this request; `nil` for a readable request.
    ///
    /// The other requests of the batch are not affected (OData Protocol 4.01, 11.7 *Batch Requests*).
    public var problem: BatchError?

    /// Creates a request.
    public init(
        id: String? = nil, method: String, url: String, headers: [BatchHeader] = [], body: [UInt8] = [],
        atomicityGroup: String? = nil, dependsOn: [String] = [], condition: String? = nil, problem: BatchError? = nil
    ) {
        self.condition = condition
        self.problem = problem
        self.id = id
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.atomicityGroup = atomicityGroup
        self.dependsOn = dependsOn
    }
}

/// One response of a batch (OData 4.01, 11.7.4 *Batch Response*).
public struct BatchResponsePart: Hashable, Sendable {
    /// The id of the request; `nil` for none.
    public var id: String?
    /// The HTTP status.
    public var status: Int
    /// The header fields.
    public var headers: [BatchHeader]
    /// The body; empty for none.
    public var body: [UInt8]
    /// The group of the request.
    public var atomicityGroup: String?

    /// Creates a response.
    public init(
        id: String? = nil, status: Int, headers: [BatchHeader] = [], body: [UInt8] = [],
        atomicityGroup: String? = nil
    ) {
        self.id = id
        self.status = status
        self.headers = headers
        self.body = body
        self.atomicityGroup = atomicityGroup
    }
}

/// The limits of a batch.
public enum BatchPartLimits {
    /// The maximum number of requests or responses.
    public static let maxParts = 1000
    /// The maximum number of header fields in each request or response.
    public static let maxHeaders = 100
    /// The maximum length of a header field or request line in bytes.
    public static let maxLineBytes = 16 * 1024
    /// The maximum size of one request or response with its body in bytes.
    public static let maxPartBytes = 64 * 1024 * 1024
}
