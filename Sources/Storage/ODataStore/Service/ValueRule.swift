import ODataModel
import ODataService

/// A value that the service gives: a time stamp, a default, a property of an uploaded stream.
public struct ValueRule: Sendable {
    /// When it is given.
    public enum Moment: Hashable, Sendable {
        /// When an entity is created.
        case insert
        /// When an entity is created or changed.
        case change
        /// When the stream of a media entity is uploaded.
        case upload
    }

    /// What a value is made from.
    public struct Context: Sendable {
        /// What is inserted or changed.
        public var entity: ODataEntity
        /// The entity as it was; `nil` for an insert.
        public var before: ODataEntity?
        /// The request.
        public var request: ODataRequest
        /// The present time.
        public var now: ODataDateTimeOffset
        /// The stream that was uploaded.
        public var stream: StreamInfo?
    }

    /// The name of the property.
    public var property: String
    /// The type that declares or inherits it; `nil` for all types that have it.
    public var type: QualifiedName?
    /// When it is given.
    public var moment: Moment
    /// Whether it stands against what a request gives.
    public var overrides: Bool
    /// Makes the value; `nil` leaves the property alone.
    public var value: @Sendable (Context) throws -> ODataValue?

    /// Makes a rule.
    public init(
        _ property: String, of type: QualifiedName? = nil, when moment: Moment, overrides: Bool = true,
        _ value: @escaping @Sendable (Context) throws -> ODataValue?
    ) {
        self.property = property
        self.type = type
        self.moment = moment
        self.overrides = overrides
        self.value = value
    }

    /// The time of the insert.
    public static func created(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .insert) { .dateTimeOffset($0.now) }
    }

    /// The time of the last change.
    public static func modified(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .change) { .dateTimeOffset($0.now) }
    }

    /// The value of a property that an insert leaves out, where the model states no default.
    public static func initial(_ property: String, of type: QualifiedName? = nil, _ value: ODataValue) -> ValueRule {
        ValueRule(property, of: type, when: .insert, overrides: false) { _ in value }
    }

    /// The media type of the stream.
    public static func contentType(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .upload) { context in context.stream.map { .string($0.contentType) } }
    }

    /// The length of the stream in bytes.
    public static func contentLength(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .upload) { context in context.stream.map { .integer($0.length) } }
    }

    /// What `Slug` proposes as a name for an entity created by its stream (RFC 5023, 9.7), else some text.
    public static func slug(_ property: String, of type: QualifiedName? = nil, or fallback: String) -> ValueRule {
        ValueRule(property, of: type, when: .upload, overrides: false) { context in
            let slug = context.request.headers.first { $0.key.lowercased() == "slug" }?.value
            if let slug { return .string(slug.removingPercentEncoding ?? slug) }
            guard context.before == nil else { return Optional.none }
            return .string(fallback)
        }
    }

    /// Whether the rule is about a property of a type.
    func applies(to shape: TypeShape, in model: EntityDataModel) -> Bool {
        shape.ordinal(of: property) != nil && (type.map { model.isType(shape.name, $0) } ?? true)
    }
}

/// What is known of a stream.
public struct StreamInfo: Hashable, Sendable {
    /// The row of the stream.
    var id: Int64
    /// The media type.
    public var contentType: String
    /// The length in bytes.
    public var length: Int64

    /// The ETag of the bytes: a stream is never changed, only replaced by another one.
    public var etag: String { "\"s\(String(id, radix: 36))\"" }
}
