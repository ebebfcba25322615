import HTTPTypes
import Supportability

/// The settings of an ``OTLPExporter``.
public struct OTLPOptions: Sendable {
    /// The attributes of the process in each request, such as `service.name` and `service.version`.
    public var resource: [String: String]
    /// Further header fields of each request, such as the key for a collector. They are sent over HTTPS, or to this
    /// machine.
    public var fields: HTTPFields
    /// The maximum number of spans in a request; 512 by default.
    public var batchSize = 512
    /// The maximum number of spans that wait; 4,096 by default. Further spans are dropped and counted.
    public var queueLimit = 4096
    /// The time between two exports; 5 s by default. A full batch is sent at once.
    public var interval = Duration.seconds(5)
    /// The maximum time of one request; 10 s by default.
    public var requestLimit = Duration.seconds(10)
    /// The maximum number of attempts for a batch; 5 by default.
    public var attempts = 5
    /// The delay before the second attempt; 1 s by default. It doubles with each attempt, and a part of it is random.
    public var firstDelay = Duration.seconds(1)
    /// The maximum delay before an attempt, also if `Retry-After` asks for a longer one; 60 s by default.
    public var longestDelay = Duration.seconds(60)
    /// The share of new traces that are recorded, 0 to 1. A trace that a caller has begun is recorded if the
    /// caller does.
    public var share = 1.0
    /// The redaction of names and values before they are sent.
    public var redaction: any LogRedaction

    /// Creates settings.
    public init(
        resource: [String: String] = [:], fields: HTTPFields = [:], redaction: any LogRedaction = SecretRedaction()
    ) {
        self.resource = resource
        self.fields = fields
        self.redaction = redaction
    }
}

extension OTLPOptions: CustomStringConvertible, CustomReflectable {
    /// The names of the header fields, without their values.
    public var description: String { "OTLPOptions(fields: \(fields.map(\.name.canonicalName)))" }
    /// A mirror without the contents.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
