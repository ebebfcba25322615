import ODataModel
import Testing

@Suite("Facet validation")
struct ValueValidatorTests {
    static let color = QualifiedName("N", "Color")
    static let flags = QualifiedName("N", "Flags")
    static let address = QualifiedName("N", "Address")
    let model: EntityDataModel

    init() throws {
        var schema = ODataSchema(namespace: "N")
        schema.enumTypes = [
            EnumType(name: Self.color, members: [.init(name: "Red", value: 1), .init(name: "Blue", value: 4)]),
            EnumType(
                name: Self.flags, isFlags: true, members: [.init(name: "A", value: 1), .init(name: "B", value: 2)]),
        ]
        schema.typeDefinitions = [
            TypeDefinition(name: QualifiedName("N", "Code"), underlyingType: .string, facets: Facets(maxLength: 2))
        ]
        schema.structuredTypes = [
            StructuredType(
                name: Self.address, kind: .complex,
                properties: [
                    Property(name: "City", type: .primitive(.string), isNullable: false, facets: Facets(maxLength: 3))
                ])
        ]
        model = try EntityDataModel(schemas: [schema])
    }

    @Test("patterns apply to properties, type definitions, collection members and complex values")
    func patterns() throws {
        func pattern(_ text: String) -> [Annotation] {
            [Annotation(term: "Org.OData.Validation.V1.Pattern", value: .constant(kind: "String", text: text))]
        }
        let name = QualifiedName("N", "Plate")
        let part = StructuredType(
            name: QualifiedName("N", "Part"), kind: .complex,
            properties: [Property(name: "Code", type: .primitive(.string), annotations: pattern("^x"))])
        var schema = ODataSchema(namespace: "N", structuredTypes: [part])
        schema.typeDefinitions = [
            TypeDefinition(name: name, underlyingType: .string, annotations: pattern("^[0-9]+$"))
        ]
        let model = try EntityDataModel(schemas: [schema])
        let validator = ValueValidator(model: model)
        let plates = Property(
            name: "Plates", type: .collection(.typeDefinition(name, .string)), annotations: pattern("7"))
        try validator.validate(.collection(["17", "7"]), for: plates)
        for member in ["18", "x7"] {
            #expect(throws: InvalidValueError.self) {
                try validator.validate(.collection(["7", .string(member)]), for: plates)
            }
        }
        let shape = try #require(model.shape(part.name))
        let whole = Property(name: "Part", type: .complex(part.name))
        try validator.validate(.complex(ODataEntity(shape: shape, ["Code": "xy"])), for: whole)
        let error = #expect(throws: InvalidValueError.self) {
            try validator.validate(.complex(ODataEntity(shape: shape, ["Code": "yx"])), for: whole)
        }
        #expect(error == InvalidValueError(.pattern("^x"), path: "Part/Code"))
        try ValueValidator(model: model, checks: .facets).validate(
            .complex(ODataEntity(shape: shape, ["Code": "yx"])), for: whole)
    }

    private func reason(
        _ value: ODataValue, _ type: TypeReference, _ facets: Facets = Facets(), isNullable: Bool = true,
        checks: ValueValidator.Checks = .all
    ) -> InvalidValueError.Reason? {
        let property = Property(name: "P", type: type, isNullable: isNullable, facets: facets)
        do throws(InvalidValueError) {
            try ValueValidator(model: model, checks: checks).validate(value, for: property)
            return nil
        } catch {
            return error.reason
        }
    }

    private func decimal(_ text: String) throws -> ODataValue { .decimal(try #require(ODataDecimal(text))) }

    @Test("MaxLength counts characters of strings and bytes of binary values")
    func maxLength() {
        let facets = Facets(maxLength: 3)
        #expect(reason("äöü", .primitive(.string), facets) == nil)
        #expect(reason("äöüx", .primitive(.string), facets) == .length(4, limit: 3))
        #expect(reason(.binary([1, 2, 3]), .primitive(.binary), facets) == nil)
        #expect(reason(.binary([1, 2, 3, 4]), .primitive(.binary), facets) == .length(4, limit: 3))
        #expect(
            reason("abc", .typeDefinition(QualifiedName("N", "Code"), .string)) == .length(3, limit: 2))
        #expect(reason("äöüx", .primitive(.string), facets, checks: [.types, .nullability]) == nil)
    }

    @Test(
        "Precision and scale of decimals",
        arguments: [
            ("123.45", 5, Facets.Scale.fixed(2), true), ("123.456", 6, .fixed(2), false),
            ("1234.5", 5, .fixed(2), false),
            ("0.1230", 3, .fixed(3), true), ("12345", 5, .variable, true), ("0.00001", 5, .variable, true),
            ("123456", 5, .variable, false), ("1e30", 5, .floating, true), ("99999", 5, nil, true),
            ("1234560", 5, .floating, false), ("1000", 3, .floating, true), ("0.001234", 3, .floating, false),
            ("0", 4, .fixed(4), true), ("0.00", 4, .fixed(4), true), ("1", 4, .fixed(4), false),
            ("0.1234", 4, .fixed(4), true), ("0", 1, .floating, true),
            ("1.5", 5, nil, false),
        ] as [(String, Int, Facets.Scale?, Bool)])
    func digits(text: String, precision: Int, scale: Facets.Scale?, isAllowed: Bool) throws {
        let facets = Facets(precision: precision, scale: scale)
        #expect((reason(try decimal(text), .primitive(.decimal), facets) == nil) == isAllowed)
        #expect(reason(try decimal(text), .primitive(.decimal), facets, checks: [.types]) == nil)
    }

    @Test("Fractional digits of seconds")
    func fraction() throws {
        let instant = ODataValue.dateTimeOffset(try #require(ODataDateTimeOffset("2026-01-01T00:00:00.123Z")))
        #expect(reason(instant, .primitive(.dateTimeOffset), Facets(precision: 3)) == nil)
        #expect(reason(instant, .primitive(.dateTimeOffset), Facets(precision: 2)) == .fraction(limit: 2))
        #expect(reason(instant, .primitive(.dateTimeOffset)) == nil)
        let time = ODataValue.timeOfDay(try #require(ODataTimeOfDay("00:00:01.000000000001")))
        #expect(reason(time, .primitive(.timeOfDay), Facets(precision: 12)) == nil)
        #expect(reason(time, .primitive(.timeOfDay), Facets(precision: 11)) == .fraction(limit: 11))
    }

    @Test("Unicode false means ASCII, and SRID is the reference system")
    func others() {
        #expect(reason("ä", .primitive(.string), Facets(isUnicode: false)) == .notASCII)
        #expect(reason("a", .primitive(.string), Facets(isUnicode: false)) == nil)
        let point = ODataValue.geo(GeoValue(.geography, .point(.init(x: 1, y: 2)), srid: 3857))
        #expect(reason(point, .primitive(.geographyPoint), Facets(srid: 4326)) == .srid(3857, expected: 4326))
        #expect(reason(point, .primitive(.geographyPoint), Facets(srid: 3857)) == nil)
        #expect(reason(point, .primitive(.geographyPoint)) == .srid(3857, expected: 4326))
        #expect(reason(point, .primitive(.geography)) == .srid(3857, expected: 4326))
        #expect(reason(point, .primitive(.geographyPoint), Facets(isSRIDVariable: true)) == nil)
        #expect(reason(point, .primitive(.geographyPoint), checks: .types) == nil)
        let plane = ODataValue.geo(GeoValue(.geometry, .point(.init(x: 1, y: 2))))
        #expect(reason(plane, .primitive(.geometryPoint)) == nil)
        #expect(reason(point, .primitive(.geometryPoint)) == .type(expected: .primitive(.geometryPoint)))
    }

    @Test("Null is checked for properties and collection members")
    func null() {
        #expect(reason(.null, .primitive(.string), isNullable: false) == .null)
        #expect(reason(.null, .primitive(.string), isNullable: false, checks: .facets) == nil)
        #expect(reason(["a", .null], .collection(.primitive(.string)), isNullable: false) == .null)
        #expect(reason(["a", .null], .collection(.primitive(.string))) == nil)
        #expect(reason("a", .collection(.primitive(.string))) == .type(expected: .collection(.primitive(.string))))
    }

    @Test(
        "Whole numbers must be in the range of their type",
        arguments: [
            (.byte, 255, 256), (.sbyte, 127, 128), (.int16, 32_767, 32_768), (.int32, 2_147_483_647, 2_147_483_648),
            (.sbyte, -128, -129), (.byte, 0, -1),
        ] as [(PrimitiveType, Int64, Int64)])
    func ranges(type: PrimitiveType, last: Int64, beyond: Int64) {
        #expect(reason(.integer(last), .primitive(type)) == nil)
        #expect(reason(.integer(beyond), .primitive(type)) == .type(expected: .primitive(type)))
    }

    @Test("Enumerations allow members, and flags allow combinations")
    func members() {
        #expect(reason(.enumeration(4), .enumeration(Self.color)) == nil)
        #expect(reason(.enumeration(5), .enumeration(Self.color)) == .member(5, of: Self.color))
        #expect(reason(.enumeration(3), .enumeration(Self.flags)) == nil)
        #expect(reason(.enumeration(8), .enumeration(Self.flags)) == .member(8, of: Self.flags))
        #expect(reason(.enumeration(5), .enumeration(Self.color), checks: [.types]) == nil)
        #expect(reason("Red", .enumeration(Self.color)) == .type(expected: .enumeration(Self.color)))
    }

    @Test("The error path leads into collections and complex values")
    func path() throws {
        let shape = try #require(model.shape(Self.address))
        let property = Property(name: "Homes", type: .collection(.complex(Self.address)))
        let homes: ODataValue = [
            .complex(ODataEntity(shape: shape, ["City": "Ulm"])), .complex(ODataEntity(shape: shape, ["City": "Bonn"])),
        ]
        let error = #expect(throws: InvalidValueError.self) {
            try ValueValidator(model: model).validate(homes, for: property)
        }
        #expect(error?.path == "Homes/1/City")
        #expect(error?.description == "Homes/1/City is 4 long where at most 3 are allowed.")
        // Properties that are not loaded are not checked.
        try ValueValidator(model: model).validate(ODataEntity(shape: shape))
    }
}
