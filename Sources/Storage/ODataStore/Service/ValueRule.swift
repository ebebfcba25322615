import ODataModel
import ODataService

/// A value that the service sets: a time stamp, a default, or a property of an uploaded stream.
public struct ValueRule: Sendable {
    /// The event at which a value is set.
    public enum Moment: Hashable, Sendable {
        /// The creation of an entity.
        case insert
        /// The creation or change of an entity.
        case change
        /// The upload of a media entity's stream.
        case upload
    }

    /// The input of a rule.
    public struct Context: Sendable {
        /// The entity to insert, or the changes of an update.
        public var entity: ODataEntity
        /// The entity before the change; `nil` for an insert.
        public var before: ODataEntity?
        /// The request that causes the change.
        public var request: ODataRequest
        /// The current time.
        public var now: ODataDateTimeOffset
        /// The uploaded stream.
        public var stream: StreamInfo?
    }

    /// The name of the property.
    public var property: String
    /// The type that declares or inherits the property; `nil` for all types with the property.
    public var type: QualifiedName?
    /// The event at which the value is set.
    public var moment: Moment
    /// Whether the value replaces one in the request.
    public var overrides: Bool
    /// A closure that returns the value; `nil` leaves the property unchanged.
    public var value: @Sendable (Context) throws -> ODataValue?

    /// Creates a rule.
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

    /// Returns a rule that sets a property to the time of the insert.
    public static func created(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .insert) { .dateTimeOffset($0.now) }
    }

    /// Returns a rule that sets a property to the time of the last change.
    public static func modified(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .change) { .dateTimeOffset($0.now) }
    }

    /// Returns a rule that sets a property missing from an insert, for properties without a default value in
    /// the model.
    public static func initial(_ property: String, of type: QualifiedName? = nil, _ value: ODataValue) -> ValueRule {
        ValueRule(property, of: type, when: .insert, overrides: false) { _ in value }
    }

    /// Returns a rule that sets a property to the media type of the stream.
    public static func contentType(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .upload) { context in context.stream.map { .string($0.contentType) } }
    }

    /// Returns a rule that sets a property to the length of the stream in bytes.
    public static func contentLength(_ property: String, of type: QualifiedName? = nil) -> ValueRule {
        ValueRule(property, of: type, when: .upload) { context in context.stream.map { .integer($0.length) } }
    }

    /// Returns a rule that sets a property when a media entity is created: to the name in the `Slug` header
    /// (RFC 5023, 9.7), or to a fallback.
    public static func slug(_ property: String, of type: QualifiedName? = nil, or fallback: String) -> ValueRule {
        ValueRule(property, of: type, when: .upload, overrides: false) { context in
            let slug = context.request.headers.first { $0.key.lowercased() == "slug" }?.value
            if let slug { return .string(slug.removingPercentEncoding ?? slug) }
            guard context.before == nil else { return Optional.none }
            return .string(fallback)
        }
    }

    /// Returns whether the rule applies to a type.
    func applies(to shape: TypeShape, in model: EntityDataModel) -> Bool {
        shape.ordinal(of: property) != nil && (type.map { model.isType(shape.name, $0) } ?? true)
    }
}

/// The description of a stream.
public struct StreamInfo: Hashable, Sendable {
    /// The id of the stream's row.
    var id: Int64
    /// The media type.
    public var contentType: String
    /// The length in bytes.
    public var length: Int64

    /// The ETag of the stream. A stream is never changed, only replaced by another one.
    public var etag: String { "\"s\(String(id, radix: 36))\"" }
}
