/// Control information of an entity (OData JSON Format 4.01, 4.6).
///
/// Each entity that is read has some, mostly its id and ETag alone; the rest is kept apart, where it is there.
public struct ControlInformation: Sendable {
    /// How the id is kept.
    private var identity: Identity
    // Spelt out, an optional does not begin with nil, which would be written and let go for each entity.
    /// The ETag.
    public var etag: Optional<String>
    /// What few entities have: one element or none. An array is changed in place and copied on write.
    private var details: [Details] = []

    /// An id. Many are a number between two texts, which become one when it is asked for: few are.
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

    /// Makes empty control information.
    public init() { self.init(id: nil, etag: nil) }

    /// What most entities have.
    package init(id: String?, etag: String?) {
        identity = id.map { .text($0) } ?? .missing
        self.etag = etag
    }

    /// What most entities have whose key is one number: the id is `idStart`, the number, and a parenthesis.
    package init(idStart: String, number: Int64, etag: String?) {
        identity = .numbered(start: idStart, number)
        self.etag = etag
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

    /// The instance's type when it derives from the expected one.
    public var type: QualifiedName? {
        get { details.first?.type }
        set { change(isEmpty: newValue == nil) { $0.type = newValue } }
    }

    /// The URL to update with, when it is not the id.
    public var editLink: String? {
        get { details.first?.editLink }
        set { change(isEmpty: newValue == nil) { $0.editLink = newValue } }
    }

    /// The URL to read with, when it is not the id.
    public var readLink: String? {
        get { details.first?.readLink }
        set { change(isEmpty: newValue == nil) { $0.readLink = newValue } }
    }

    /// For media entities: where the stream is read.
    public var mediaReadLink: String? {
        get { details.first?.mediaReadLink }
        set { change(isEmpty: newValue == nil) { $0.mediaReadLink = newValue } }
    }

    /// For media entities: the stream's media type.
    public var mediaContentType: String? {
        get { details.first?.mediaContentType }
        set { change(isEmpty: newValue == nil) { $0.mediaContentType = newValue } }
    }

    /// For media entities: the stream's ETag.
    public var mediaEtag: String? {
        get { details.first?.mediaEtag }
        set { change(isEmpty: newValue == nil) { $0.mediaEtag = newValue } }
    }

    /// The reason when this stands for a removed entity in a delta: `deleted` or `changed`.
    public var removedReason: String? {
        get { details.first?.removedReason }
        set { change(isEmpty: newValue == nil) { $0.removedReason = newValue } }
    }

    /// Instance annotations by full name, `Property@term` for those on a property.
    public var annotations: [String: ODataValue] {
        get { details.first?.annotations ?? [:] }
        set { change(isEmpty: newValue.isEmpty) { $0.annotations = newValue } }
        _modify {
            if details.isEmpty { details.append(Details()) }
            yield &details[0].annotations
        }
    }

    /// The values that could not be read, by property path: these properties are not loaded. Empty unless the reader
    /// forgives unreadable values.
    public var unreadable: [String: UnreadableValue] {
        get { details.first?.unreadable ?? [:] }
        set { change(isEmpty: newValue.isEmpty) { $0.unreadable = newValue } }
    }

    /// Changes what few entities have; nothing where there is none of it and none is given.
    private mutating func change(isEmpty: Bool, _ body: (inout Details) -> Void) {
        if details.isEmpty {
            if isEmpty { return }
            details.append(Details())
        }
        body(&details[0])
    }
}

extension ControlInformation: Hashable {
    /// Equal when all of it is.
    public static func == (left: ControlInformation, right: ControlInformation) -> Bool {
        left.id == right.id && left.etag == right.etag && left.known == right.known
    }

    /// Hashes all of it.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(etag)
        hasher.combine(known)
    }

    /// What few entities have, empty where this one has not: what was there once and was taken away is not there.
    private var known: Details { details.first ?? Details() }
}
