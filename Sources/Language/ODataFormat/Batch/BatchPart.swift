/// A header field of a request or response within a batch.
public struct BatchHeader: Hashable, Sendable {
    /// The name; compared without regard to case.
    public var name: String
    /// The value.
    public var value: String

    /// Makes a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension Sequence<BatchHeader> {
    /// The value of the first field with a name, whatever its case.
    public func value(of name: String) -> String? {
        let lower = name.lowercased()
        return first { $0.name.lowercased() == lower }?.value
    }
}

/// One request of a batch (OData 4.01, 11.7 *Batch Requests*).
public struct BatchRequestPart: Hashable, Sendable {
    /// The request id (`Content-ID` in multipart), by which others refer to it; `nil` for none.
    public var id: String?
    /// The HTTP method.
    public var method: String
    /// The URL: absolute, relative, or starting with `$` and another request's id.
    public var url: String
    /// The header fields.
    public var headers: [BatchHeader]
    /// The body; empty for none.
    public var body: [UInt8]
    /// The requests of one group are all done or none; they stand side by side.
    public var atomicityGroup: String?
    /// The ids of requests and groups that must have succeeded before; JSON batches only.
    public var dependsOn: [String]
    /// An expression over earlier responses; the request is done where it is true. JSON batches only
    /// (OData JSON Format 4.01, 19.1: `if`).
    public var condition: String?
    /// The reason why this request cannot be read, although it is known where it ends; `nil` for a readable request.
    ///
    /// The other requests of the batch are not affected (OData Protocol 4.01, 11.7 *Batch Requests*).
    public var problem: BatchError?

    /// Makes a request.
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

    /// Makes a response.
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

/// What a batch may hold at most.
public enum BatchPartLimits {
    /// How many requests or responses.
    public static let maxParts = 1000
    /// How many header fields each.
    public static let maxHeaders = 100
    /// How long a header field or a request line may be, in bytes.
    public static let maxLineBytes = 16 * 1024
    /// How large one request or response may be with its body, in bytes.
    public static let maxPartBytes = 64 * 1024 * 1024
}
