/// The metadata of a fictitious large service, with any number of types and all kinds of declarations, selected
/// by a seed.
struct SyntheticMetadata {
    private var state: UInt64
    private let entityTypes: Int
    private var text = ""

    /// Returns the metadata as XML.
    ///
    /// - Parameters:
    ///   - entityTypes: The number of entity types. There are a third as many complex types and a tenth as many
    ///     enumerations.
    ///   - seed: The seed; the same value results in the same metadata.
    static func xml(entityTypes: Int, seed: UInt64) -> String {
        var metadata = SyntheticMetadata(entityTypes: entityTypes, seed: seed)
        metadata.write()
        return metadata.text
    }

    private init(entityTypes: Int, seed: UInt64) {
        state = seed
        self.entityTypes = entityTypes
    }

    /// Returns a pseudorandom number below a bound (SplitMix64).
    private mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(bound))
    }

    private static let words = [
        "Order", "Item", "customer", "PAYMENT_TERM", "Class", "type", "Name", "id", "value", "Description", "default",
        "Größe", "名前", "first name", "isLoaded", "in", "URL", "Key", "date-of", "self", "Path", "state", "Error", "Set",
    ]

    private mutating func word() -> String { Self.words[next(Self.words.count)] }

    private static let primitives = [
        "String", "Int32", "Int64", "Int16", "SByte", "Byte", "Boolean", "Decimal", "Double", "Single", "Guid", "Date",
        "TimeOfDay", "DateTimeOffset", "Duration", "Binary", "GeographyPoint",
    ]

    private var complexTypes: Int { max(2, entityTypes / 3) }
    private var enumTypes: Int { max(1, entityTypes / 10) }
    private func entity(_ index: Int) -> String { "Entity \(index)" }
    private func complex(_ index: Int) -> String { "complex-\(index)" }
    private func enumeration(_ index: Int) -> String { "Choice\(index)" }

    private mutating func type() -> String {
        let name: String
        switch next(10) {
        case 0: name = "Big.\(complex(next(complexTypes)))"
        case 1: name = "Big.\(enumeration(next(enumTypes)))"
        case 2: name = "Big.Amount"
        default: name = "Edm.\(Self.primitives[next(Self.primitives.count)])"
        }
        return next(8) == 0 ? "Collection(\(name))" : name
    }

    private mutating func write() {
        text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Big">
            <TypeDefinition Name="Amount" UnderlyingType="Edm.Decimal" Scale="4"/>

            """
        for index in 0..<enumTypes { writeEnumeration(index) }
        for index in 0..<complexTypes { writeComplexType(index) }
        for index in 0..<entityTypes { writeEntityType(index) }
        for index in 0..<entityTypes { writeOperation(index) }
        text += #"<EntityContainer Name="BigContainer">"#
        for index in 0..<entityTypes {
            text += #"<EntitySet Name="Set \#(index)" EntityType="Big.\#(entity(index))"/>"# + "\n"
        }
        text += "</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>\n"
    }

    private mutating func writeEnumeration(_ index: Int) {
        text += #"<EnumType Name="\#(enumeration(index))" IsFlags="\#(next(3) == 0)">"#
        for member in 0...next(12) { text += #"<Member Name="\#(word()) \#(member)" Value="\#(1 << member)"/>"# }
        text += "</EnumType>\n"
    }

    private mutating func writeProperties() {
        for number in 0...(4 + next(14)) {
            text += #"<Property Name="\#(word())\#(number)" Type="\#(type())" Nullable="\#(next(2) == 0)"/>"#
        }
    }

    private mutating func writeComplexType(_ index: Int) {
        // The base type has a lower index, so that there is no cycle.
        let base = index > 0 && next(4) == 0 ? #" BaseType="Big.\#(complex(next(index)))""# : ""
        text += #"<ComplexType Name="\#(complex(index))"\#(base)>"#
        // Inherited properties cannot be declared again.
        if base.isEmpty { writeProperties() } else { text += #"<Property Name="own\#(index)" Type="\#(type())"/>"# }
        text += "</ComplexType>\n"
    }

    private mutating func writeEntityType(_ index: Int) {
        let base = index > 0 && next(3) == 0 ? #" BaseType="Big.\#(entity(next(index)))""# : ""
        text += #"<EntityType Name="\#(entity(index))"\#(base) OpenType="\#(next(9) == 0)">"#
        if base.isEmpty {
            text += #"<Key><PropertyRef Name="key"/></Key><Property Name="key" Type="Edm.Int64" Nullable="false"/>"#
            writeProperties()
        } else {
            text += #"<Property Name="own\#(index)" Type="\#(type())"/>"#
        }
        for number in 0..<next(5) {
            let target = "Big.\(entity(next(entityTypes)))"
            let isCollection = next(2) == 0
            text += #"<NavigationProperty Name="to \#(index) \#(number)""#
            text += #" Type="\#(isCollection ? "Collection(\(target))" : target)""#
            text += #" ContainsTarget="\#(isCollection && next(5) == 0)"/>"#
        }
        text += "</EntityType>\n"
    }

    private mutating func writeOperation(_ index: Int) {
        guard next(2) == 0 else { return }
        let isAction = next(2) == 0
        let bindings = [
            "Big.\(entity(index))", "Collection(Big.\(entity(index)))", "Big.\(complex(next(complexTypes)))",
            "Collection(Big.\(complex(next(complexTypes))))", "Big.\(enumeration(next(enumTypes)))", "Edm.String",
        ]
        let element = isAction ? "Action" : "Function"
        text += #"<\#(element) Name="\#(word()) \#(index)" IsBound="true">"#
        text += #"<Parameter Name="it" Type="\#(bindings[next(bindings.count)])"/>"#
        for number in 0..<next(4) {
            text += #"<Parameter Name="\#(word())\#(number)" Type="\#(type())" Nullable="\#(next(2) == 0)"/>"#
        }
        if !isAction || next(2) == 0 {
            let result = next(3) == 0 ? "Big.\(entity(next(entityTypes)))" : type()
            text += #"<ReturnType Type="\#(result)"/>"#
        }
        text += "</\(element)>\n"
    }
}
