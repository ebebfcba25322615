private let objects = Vocabulary.objects

extension NavigationProperty {
    /// Whether the related entities are parts of this entity: `Objects.Composite`. The default is true for contained
    /// entities and for those that are deleted with this entity (`OnDelete Cascade`).
    public var isComposite: Bool { tag(objects + "Composite") ?? (isContainment || onDelete == .cascade) }
}

extension Property {
    /// Whether the value is loaded by a request of its own, in chunks: `Objects.LargeAttribute`. The default is true
    /// for `Edm.Stream`.
    public var isLargeAttribute: Bool { tag(objects + "LargeAttribute") ?? (type == .primitive(.stream)) }

    /// The media type of a stream: `Core.MediaType`; `nil` if the document states none.
    public var mediaType: String? { annotation(Vocabulary.core + "MediaType")?.value?.plainText }

    /// Whether the value is a stream of text.
    public var isLargeText: Bool {
        type == .primitive(.stream) && mediaType?.lowercased().hasPrefix("text/") == true
    }

    /// The length above which a text or binary value should be a stream; `nil` if the property is shorter.
    ///
    /// The limits are 32,767 bytes and 8,191 characters.
    public var lengthBeyondValues: Int? {
        guard let length = facets.maxLength, !isLargeAttribute else { return nil }
        switch type.primitive {
        case .binary?: return length > 32_767 ? length : nil
        case .string?: return length > 8191 ? length : nil
        default: return nil
        }
    }
}

extension StructuredType {
    /// The number of the entity type that the document states: `Objects.EntityTypeNumber`.
    var statedEntityTypeNumber: Int64? {
        annotation(objects + "EntityTypeNumber")?.value?.plainText.flatMap { Int64($0) }
    }

    /// Whether dynamic queries may read the type: `Objects.DynamicQueries`. The default is true.
    public var allowsDynamicQueries: Bool { tag(objects + "DynamicQueries") ?? true }
}

extension QualifiedName {
    /// The default number of an entity type: the lower 31 bits of the FNV-1a hash of the qualified name, so that the
    /// number does not depend on the order of the types.
    var entityTypeNumber: Int32 {
        var hash: UInt32 = 2_166_136_261
        for byte in description.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let number = Int32(hash & 0x7FFF_FFFF)
        return number == 0 ? 1 : number
    }
}

extension AnnotationExpression {
    /// The text of a constant or a path of any kind. CSDL JSON does not tell strings, paths and members apart.
    var plainText: String? {
        switch self {
        case .constant(_, let text), .path(_, let text): text
        case .collection, .record, .dynamic: nil
        }
    }

    /// The last part of the text of an enumeration member, such as `Create` in `Outpost.Objects.V1.Role/Create`.
    var memberName: String? { plainText?.parts(between: "/").last.map(String.init) }

    /// The text of a record's property.
    func text(_ name: String) -> String? { recordProperty(name)?.plainText }

    /// The boolean in a record's property.
    func flag(_ name: String) -> Bool? { recordProperty(name)?.plainText.flatMap { Bool(stated: $0) } }

    /// The members of a collection; the expression alone if it is a record.
    var members: [AnnotationExpression] {
        switch self {
        case .collection(let members): members
        case .record: [self]
        case .constant, .path, .dynamic: []
        }
    }
}
