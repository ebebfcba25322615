/// Control information of an entity (OData JSON Format 4.01, 4.6).
///
/// Most entities have only an id and an ETag. All other control information is stored separately to keep entities
/// small.
public struct ControlInformation: Sendable {
    /// The stored form of the id.
    private var identity: Identity
    // Spelt out, an optional does not begin with nil, which would be written and let go for each entity.
    @usableFromInline var tag: Optional<String>
    /// What few entities have: one element or none. An array is changed in place and copied on write.
    private var details: [Details] = []

    /// An id. Many ids consist of a number between two fixed texts; the whole text is built only on request.
    private enum Identity: Sendable {
        case missing
        case text(String)
        case numbered(start: String, Int64)
    }

    private struct Details: Hashable, Sendable {
        var type: QualifiedName?
        var editLink: String?
        var readLink: String?
        var mediaReadLink: String?
        var mediaContentType: String?
        var mediaEtag: String?
        var removedReason: String?
        var annotations: [String: ODataValue] = [:]
        var unreadable: [String: UnreadableValue] = [:]
    }

    /// Creates empty control information.
    public init() { self.init(id: nil, etag: nil) }

    /// Creates control information with the id and ETag, which most entities have.
    package init(id: String?, etag: String?) {
        identity = id.map { .text($0) } ?? .missing
        tag = etag
    }

    /// Creates control information for an entity whose key is one number. The id consists of `idStart`, the number
    /// and a parenthesis.
    package init(idStart: String, number: Int64, etag: String?) {
        identity = .numbered(start: idStart, number)
        tag = etag
    }

    /// The ETag.
    @inlinable public var etag: String? {
        get { tag }
        set { tag = newValue }
    }

    /// The entity id (`@odata.id`), absolute or relative to the service root.
    public var id: String? {
        get {
            switch identity {
            case .missing: nil
            case .text(let text): text
            case .numbered(let start, let number): start + String(number) + ")"
            }
        }
        set { identity = newValue.map { .text($0) } ?? .missing }
    }

    /// The type of the instance if it derives from the expected type.
    public var type: QualifiedName? {
        get { details.first?.type }
        set { change(isEmpty: newValue == nil) { $0.type = newValue } }
    }

    /// The URL for updates if it differs from the id.
    public var editLink: String? {
        get { details.first?.editLink }
        set { change(isEmpty: newValue == nil) { $0.editLink = newValue } }
    }

    /// The URL for reading if it differs from the id.
    public var readLink: String? {
        get { details.first?.readLink }
        set { change(isEmpty: newValue == nil) { $0.readLink = newValue } }
    }

    /// The URL of the stream of a media entity.
    public var mediaReadLink: String? {
        get { details.first?.mediaReadLink }
        set { change(isEmpty: newValue == nil) { $0.mediaReadLink = newValue } }
    }

    /// The media type of the stream of a media entity.
    public var mediaContentType: String? {
        get { details.first?.mediaContentType }
        set { change(isEmpty: newValue == nil) { $0.mediaContentType = newValue } }
    }

    /// The ETag of the stream of a media entity.
    public var mediaEtag: String? {
        get { details.first?.mediaEtag }
        set { change(isEmpty: newValue == nil) { $0.mediaEtag = newValue } }
    }

    /// The reason for the removal of an entity in a delta: `deleted` or `changed`; `nil` for an existing entity.
    public var removedReason: String? {
        get { details.first?.removedReason }
        set { change(isEmpty: newValue == nil) { $0.removedReason = newValue } }
    }

    /// Instance annotations by full name, or by `Property@term` for annotations on a property.
    public var annotations: [String: ODataValue] {
        get { details.first?.annotations ?? [:] }
        set { change(isEmpty: newValue.isEmpty) { $0.annotations = newValue } }
        _modify {
            if details.isEmpty { details.append(Details()) }
            yield &details[0].annotations
        }
    }

    /// The unreadable values by property path. The affected properties are not loaded. Always empty unless the
    /// reader tolerates unreadable values.
    public var unreadable: [String: UnreadableValue] {
        get { details.first?.unreadable ?? [:] }
        set { change(isEmpty: newValue.isEmpty) { $0.unreadable = newValue } }
    }

    /// Changes rare control information; an empty value does not allocate storage.
    private mutating func change(isEmpty: Bool, _ body: (inout Details) -> Void) {
        if details.isEmpty {
            if isEmpty { return }
            details.append(Details())
        }
        body(&details[0])
    }
}

extension ControlInformation: Hashable {
    /// Returns whether all control information is equal.
    public static func == (left: ControlInformation, right: ControlInformation) -> Bool {
        left.id == right.id && left.etag == right.etag && left.known == right.known
    }

    /// Hashes all control information.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(etag)
        hasher.combine(known)
    }

    /// The rare control information; absent storage counts as empty.
    private var known: Details { details.first ?? Details() }
}
