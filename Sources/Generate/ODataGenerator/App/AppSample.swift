import ODataModel

/// An entity that the tests of a new package create: a set, and a value for each property that a new entity needs.
struct AppSample {
    let set: EntitySet
    /// The Swift name of its type.
    let type: String
    /// The Swift names of properties, and expressions for their values.
    let values: [(member: String, value: String)]

    /// Makes a sample of a set, if an entity of it needs only values that are known without the service.
    ///
    /// - Returns: `nil` for a set whose entities cannot be created, have a stream, must be linked, or have a value whose
    ///   rules are in the service alone.
    init?(_ set: EntitySet, _ translator: Translator) {
        let model = translator.model
        guard set.isCreatable, let type = model.structuredType(set.type), !type.isAbstract, !type.hasStream,
            let shape = model.shape(set.type), !shape.key.isEmpty
        else { return nil }
        let dependent = Set(shape.navigationProperties.flatMap { $0.constraints.map(\.property) })
        guard shape.navigationProperties.allSatisfy({ $0.isCollection || $0.isNullable }) else { return nil }
        let key = Set(shape.key.map(\.path))
        guard key.allSatisfy({ path in shape.properties.contains { $0.name == path } }) else { return nil }
        var values: [(member: String, value: String)] = []
        for property in shape.properties
        where key.contains(property.name) || (!property.isNullable && property.defaultValue == nil) {
            // The service sets the value.
            guard property.isCreatable, !property.isServerGenerated else { continue }
            guard !dependent.contains(property.name), !Self.hasRules(property),
                let value = Self.value(of: property.type, translator)
            else { return nil }
            values.append((SwiftName.quoted(translator.names.member(property.name, of: set.type)), value))
        }
        self.set = set
        self.type = translator.names.type(set.type)
        self.values = values
    }

    /// Whether the metadata restrict the values further than the type does.
    private static func hasRules(_ property: Property) -> Bool {
        property.annotations.contains { $0.term.hasPrefix(Vocabulary.validation) }
    }

    private static func value(of type: TypeReference, _ translator: Translator) -> String? {
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive): return value(of: primitive)
        case .enumeration(let name):
            guard translator.subset.contains(type), let first = translator.model.enumType(name)?.members.first else {
                return nil
            }
            return "." + SwiftName.quoted(translator.names.member(first.name, of: name))
        case .collection(let element):
            // An empty collection is a value.
            return translator.subset.contains(element) ? "[]" : nil
        case .complex, .entity, .untyped: return nil
        }
    }

    private static func value(of type: PrimitiveType) -> String? {
        switch type {
        case .boolean: "true"
        case .byte, .sbyte, .int16, .int32, .int64, .single, .double: "1"
        // Decimals may have no digit before the point.
        case .decimal: "0"
        case .string: "\"1\""
        case .binary: "[1]"
        case .guid: "ODataGuid.random()"
        case .date: "ODataDate(daysSinceEpoch: 20_000)"
        case .timeOfDay: "ODataTimeOfDay(\"12:00:00\")"
        case .dateTime: "ODataDateTime(seconds: 1_728_000_000)"
        case .dateTimeOffset: "ODataDateTimeOffset(seconds: 1_728_000_000)"
        case .duration, .time: "ODataDuration(seconds: 1)"
        default: nil
        }
    }
}
