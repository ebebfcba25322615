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
        var types: [String: TypeReference] = [:]
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            try members.insert(key, in: scanner)
            let name = key.string
            if let at = name.lastIndex(of: "@") {
                let control = name[name.index(after: at)...]
                guard control == "odata.type" || control == "type" else {
                    guard control.contains("."), !control.hasPrefix("odata.") else {
                        try scanner.skipValue()
                        continue
                    }
                    // The name is `@term` for the instance and `property@term` for a property.
                    let annotated = at == name.startIndex ? String(control) : name
                    entity.control.annotations[annotated] = try readValue(
                        &scanner, type: types[name] ?? .untyped("Edm.Untyped"))
                    continue
                }
                let type = model.typeReference(fragment: try scanner.readString())
                if at != name.startIndex {
                    types[String(name[..<at])] = type
                } else if case .complex(let stated?) = type, let shape = model.shape(stated) {
                    entity.become(shape)
                } else if case .entity(let stated?) = type, let shape = model.shape(stated) {
                    entity.become(shape)
                }
                continue
            }
            do throws(JSONError) {
                if let ordinal = entity.shape.ordinal(of: name) {
                    let property = entity.shape.properties[ordinal]
                    entity.values[ordinal] = try readProperty(&scanner, property, control: &entity.control) {
                        (scanner) throws(JSONError) in try readValue(&scanner, type: property.type)
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
}

extension ODataEntity {
    /// Changes the shape and restarts with empty properties; annotations, which may precede the type, are kept.
    fileprivate mutating func become(_ shape: TypeShape) {
        let (annotations, unreadable) = (control.annotations, control.unreadable)
        self = ODataEntity(shape: shape)
        if !annotations.isEmpty { control.annotations = annotations }
        control.unreadable = unreadable
    }
}
