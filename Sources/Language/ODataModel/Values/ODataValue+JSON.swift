extension ODataValue {
    /// Reads the next value as a value of a type (OData JSON Format 4.01, 7).
    ///
    /// Structured instances contain their properties and annotations, and have the derived type that `@odata.type`
    /// or `@type` states. Other control information is skipped; `ODataFormat` reads all of it.
    /// - Throws: ``JSONError`` with the position, the property path and the expected content.
    public init(
        json scanner: inout JSONScanner, type: TypeReference, model: EntityDataModel
    ) throws(JSONError) {
        self = try PropertiesOnlyReader(model: model, isForgiving: false).readValue(&scanner, type: type)
    }

    /// Reads a whole JSON text as one value.
    ///
    /// - Throws: ``JSONError`` with the position, the property path and the expected content.
    public init(json bytes: [UInt8], type: TypeReference, model: EntityDataModel) throws(JSONError) {
        self = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> ODataValue in
            let value = try ODataValue(json: &scanner, type: type, model: model)
            try scanner.expectEnd()
            return value
        }
    }
}

extension TypeShape {
    /// The shape of objects of unknown type: open, without declared properties.
    public static let untyped = TypeShape(
        StructuredType(name: QualifiedName("Edm", "Untyped"), kind: .complex, isOpen: true), base: nil)
}

/// Reads the properties of an instance, and the annotations on the instance and its properties, and skips
/// everything else.
struct PropertiesOnlyReader: JSONValueReading {
    let model: EntityDataModel
    let isForgiving: Bool

    func readInstance(_ scanner: inout JSONScanner, declared: QualifiedName?) throws(JSONError) -> ODataEntity {
        var entity = ODataEntity(shape: declared.flatMap { model.shape($0) } ?? .untyped)
        var members = JSONMemberSet()
        var types = StatedTypes()
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            try members.insert(key, in: scanner)
            let name = key.string
            if let owner = StatedTypes.owner(of: name) {
                guard try !scanner.takeNull() else { continue }
                types.note(model.typeReference(fragment: try scanner.readString()), of: owner)
                adopt(types, in: &entity)
                continue
            }
            let sides = name.halves(atLast: "@")
            if sides?.behind.controlInformation != nil || name.begins(with: "odata.") {
                try scanner.skipValue()
                continue
            }
            // Nothing stated elsewhere changes the way to read a declared property of a primitive type.
            if entity.shape.ordinal(of: name).map({ entity.shape.primitiveTypes[$0] == nil }) ?? true {
                try types.lookAhead(scanner, model: model)
                adopt(types, in: &entity)
            }
            if let (owner, control) = sides {
                // `@term` on the instance, `property@term` on a property.
                let annotated = owner.isEmpty ? String(control) : name
                entity.control.annotations[annotated] = try readValue(
                    &scanner, type: types[name] ?? .untyped("Edm.Untyped"))
                continue
            }
            do throws(JSONError) {
                if let ordinal = entity.shape.ordinal(of: name) {
                    let property = entity.shape.properties[ordinal]
                    let type = property.type.narrowed(by: types[name])
                    entity.values[ordinal] = try readProperty(&scanner, property, control: &entity.control) {
                        (scanner) throws(JSONError) in try readValue(&scanner, type: type)
                    }
                } else if entity.shape.isOpen {
                    let type = types[name] ?? .untyped("Edm.Untyped")
                    entity.dynamicProperties[name] = try readValue(&scanner, type: type)
                } else {
                    try scanner.skipValue()
                }
            } catch {
                throw error.within(name)
            }
        }
        return entity
    }

    private func adopt(_ types: StatedTypes, in entity: inout ODataEntity) {
        if let shape = types.ofObject.flatMap({ model.shape(stated: $0) }) { entity.adopt(shape) }
    }
}

/// The types that an object states for itself and for its members, in any order (OData JSON Format 4.01, 4.5).
private struct StatedTypes {
    private(set) var ofObject: TypeReference?
    private var ofMembers: [String: TypeReference] = [:]
    private var hasLookedAhead = false

    subscript(member: String) -> TypeReference? { ofMembers.isEmpty ? nil : ofMembers[member] }

    /// Notes the type of a member, or of the object for the empty name.
    mutating func note(_ type: TypeReference, of owner: Substring) {
        if owner.isEmpty { ofObject = type } else { ofMembers[String(owner)] = type }
    }

    /// The member whose type the member `name` states, empty for the object; `nil` if it states none. V3 writes
    /// `odata.type` for the object.
    static func owner(of name: String) -> Substring? {
        if name == "odata.type" { return "" }
        guard let (owner, control) = name.halves(atLast: "@"), control.controlInformation == "type" else { return nil }
        return owner
    }

    /// Notes the types that later members of the object state, the first time it is called.
    ///
    /// - Parameter scanner: stands before the value of a member.
    mutating func lookAhead(_ scanner: JSONScanner, model: EntityDataModel) throws(JSONError) {
        guard !hasLookedAhead else { return }
        hasLookedAhead = true
        var ahead = scanner
        try ahead.skipValue()
        while let key = try ahead.nextKey() {
            let isControl = key.contains(UInt8(ascii: "@")) || key == "odata.type"
            if isControl, let owner = Self.owner(of: key.string), try ahead.peekKind() == .string {
                note(model.typeReference(fragment: try ahead.readString()), of: owner)
            } else {
                try ahead.skipValue()
            }
        }
    }
}

extension TypeReference {
    /// The type to read a value of this type with if the payload states one: V3 states the type of a complex
    /// value beside the property.
    package func narrowed(by stated: TypeReference?) -> TypeReference {
        guard let stated else { return self }
        switch (self, stated) {
        case (.untyped, _), (.complex, .complex(_?)), (.collection(.untyped), .collection): return stated
        default: return self
        }
    }
}

extension EntityDataModel {
    /// The shape of the structured type that a payload states; `nil` for other types and for types that the model
    /// lacks.
    package func shape(stated type: TypeReference) -> TypeShape? {
        switch type {
        case .entity(let name?), .complex(let name?): shape(name)
        default: nil
        }
    }
}

extension ODataEntity {
    /// Goes on as an instance of another type with everything that was read: properties of the base type keep their
    /// ordinals.
    package mutating func adopt(_ shape: TypeShape) {
        guard shape != self.shape else { return }
        var next = ODataEntity(shape: shape)
        for (property, value) in zip(self.shape.properties, values) {
            if let value { next[property.name] = value }
        }
        for (name, value) in dynamicProperties { next[name] = value }
        // Nothing was changed by reading it.
        next.markUnchanged()
        if !related.isEmpty { next.related = related }
        if control != ControlInformation() { next.control = control }
        self = next
    }
}
