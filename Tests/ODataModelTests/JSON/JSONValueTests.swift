import TestModels
import Testing

@testable import ODataModel

@Suite("Values in JSON and as text")
struct JSONValueTests {
    private let model: EntityDataModel

    init() throws { model = try SampleModel.make() }

    private func read(_ text: String, _ type: String) throws(JSONError) -> ODataValue {
        try ODataValue(json: Array(text.utf8), type: model.typeReference(type), model: model)
    }

    private func written(_ value: ODataValue, _ type: String, ieee: Bool = false) -> String {
        var writer = JSONWriter()
        writer.value(value, type: model.typeReference(type), model: model, isIEEE754Compatible: ieee)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Annotations within complex and untyped values are kept")
    func nestedAnnotations() throws {
        let text = """
            {"@Core.Description":"home","@odata.type":"#Shop.AddressAbroad","Street@Core.Permissions":"Read",
             "Street":"x","Street@odata.count":1,"Extra":{"@Own.Term":[1],"a":2,"a@Own.Other":null}}
            """
        guard case .complex(let address) = try read(text, "Shop.Address"),
            case .complex(let extra)? = address["Extra"]
        else {
            Issue.record("no complex value")
            return
        }
        #expect(address.shape.name == QualifiedName("Shop", "AddressAbroad"))
        #expect(
            address.control.annotations == [
                "Core.Description": .string("home"), "Street@Core.Permissions": .string("Read"),
            ])
        #expect(extra.control.annotations == ["Own.Term": .collection([.integer(1)]), "a@Own.Other": .null])
    }

    @Test(
        "A complex value keeps its values for any position of its type",
        arguments: [
            ##"{"Street":"x","Zip":7,"Country":"F","Own":1,"@odata.type":"#Shop.AddressAbroad"}"##,
            ##"{"Street":"x","@Core.Description":"home","Zip":7,"@type":"#Shop.AddressAbroad","Country":"F","Own":1}"##,
            ##"{"@odata.type":"#Shop.AddressAbroad","Own":1,"Country":"F","Zip":7,"Street":"x"}"##,
            #"{"Own":1,"Street":"x","Country":"F","Zip":7,"odata.type":"Shop.AddressAbroad","odata.id":"y"}"#,
        ])
    func typeAnywhere(text: String) throws {
        guard case .complex(let address) = try read(text, "Shop.Address") else {
            Issue.record("no complex value")
            return
        }
        #expect(address.shape.name == QualifiedName("Shop", "AddressAbroad"))
        #expect(address["Street"] == "x" && address["Zip"] == 7 && address["Country"] == "F")
        #expect(address.dynamicProperties == ["Own": 1] && address.changedProperties.isEmpty)
    }

    @Test(
        "Dynamic properties and annotations have their stated types at any position",
        arguments: [
            ##"{"Day@odata.type":"#Date","Day":"2026-11-27","@Own.Day@type":"#Date","@Own.Day":"2026-11-27"}"##,
            ##"{"Day":"2026-11-27","Day@odata.type":"#Date","@Own.Day":"2026-11-27","@Own.Day@type":"#Date"}"##,
        ])
    func statedTypes(text: String) throws {
        guard case .complex(let entity) = try read(text, "Edm.Untyped") else {
            Issue.record("no complex value")
            return
        }
        let day = try ODataValue(lexical: "2026-11-27", type: .date)
        #expect(entity.dynamicProperties == ["Day": day])
        #expect(entity.control.annotations == ["Own.Day": day])
    }

    @Test("A property with an empty name does not take the type of its object")
    func emptyName() throws {
        guard case .complex(let address) = try read(##"{"@odata.type":"#Shop.AddressAbroad","":1}"##, "Shop.Address")
        else {
            Issue.record("no complex value")
            return
        }
        #expect(address.dynamicProperties == ["": 1])
    }

    @Test("A combining mark behind the @ of an annotation does not make it a property")
    func combiningMark() throws {
        let text = "{\"@odata.type\":\"#Shop.AddressAbroad\",\"Street@\u{301}a.Term\":1,\"@\u{301}a.Term\":2}"
        guard case .complex(let address) = try read(text, "Shop.Address") else {
            Issue.record("no complex value")
            return
        }
        #expect(address.dynamicProperties.isEmpty)
        #expect(address.control.annotations == ["Street@\u{301}a.Term": 1, "\u{301}a.Term": 2])
    }

    @Test("A row keeps the values of a complex property with its type at the end")
    func rowWithTypeAtEnd() throws {
        let shape = TypeShape(
            dynamic: QualifiedName("Shop", "Row"),
            properties: [Property(name: "Home", type: .complex(SampleModel.address))])
        let row = JSONRow(shape: shape, model: model)
        let text = ##"{"Home":{"Street":"x","Country":"F","@odata.type":"#Shop.AddressAbroad"},"@\u0301a.Term":1}"##
        let entity = try JSONScanner.scan(Array(text.utf8)) { (scanner) throws(JSONError) -> ODataEntity? in
            try row.read(&scanner)
            return try? row.entity(as: shape)
        }
        guard case .complex(let home)? = entity?["Home"] else {
            Issue.record("no complex value")
            return
        }
        #expect(home["Street"] == "x" && home["Country"] == "F")
        #expect(entity?.control.annotations == ["\u{301}a.Term": 1])
    }

    @Test("Dynamic properties are read with the type in which they were written")
    func dynamicTypes() throws {
        let address = try #require(model.shape(QualifiedName("Shop", "AddressAbroad")))
        let day = try ODataValue(lexical: "2026-11-27", type: .date)
        let point = "{\"type\":\"Point\",\"coordinates\":[1.5,2]}"
        var entity = ODataEntity(shape: .untyped)
        entity.dynamicProperties = [
            "": day, "Binary": .binary([1, 255]), "Complex": .complex(ODataEntity(shape: address, ["Street": "x"])),
            "Date": day, "Dates": .collection([.null, day]), "Decimal": try ODataValue(lexical: "5.5", type: .decimal),
            "Double": .double(1), "Guid": try ODataValue(lexical: "f89dee73-af9f-4cd4-b330-db93c25ff3c7", type: .guid),
            "Instant": try ODataValue(lexical: "2026-11-27T10:00:00.5Z", type: .dateTimeOffset), "Integer": 5,
            "Local": try ODataValue(lexical: "2026-11-27T10:00:00", type: .dateTime), "Mixed": .collection([1, "a"]),
            "Point": .geo(try GeoValue(geoJSON: point, family: .geography)),
            "Single": .single(.infinity), "Text": "2026-11-27",
            "Time": try ODataValue(lexical: "12:00:00", type: .timeOfDay),
            "Whole": try ODataValue(lexical: "7", type: .decimal),
        ]
        for isIEEE754Compatible in [false, true] {
            let text = written(.complex(entity), "Edm.Untyped", ieee: isIEEE754Compatible)
            guard case .complex(let back) = try read(text, "Edm.Untyped") else {
                Issue.record("no object")
                continue
            }
            #expect(back.shape == .untyped)
            #expect(Set(back.dynamicProperties.keys) == Set(entity.dynamicProperties.keys))
            // JSON implies only that a number is an integer.
            for (name, value) in entity.dynamicProperties
            where !name.isEmpty && (name != "Whole" || isIEEE754Compatible) {
                #expect(back.dynamicProperties[name]?.isIdentical(to: value) == true, "\(name): \(text)")
            }
        }
    }

    @Test("CSDL 7.2.4: a decimal of floating scale may be INF, -INF or NaN", arguments: ["INF", "-INF", "NaN"])
    func decimalsThatAreNoNumbers(text: String) throws {
        let value = try read("\"\(text)\"", "Edm.Decimal")
        #expect(value.lexicalText == text && value.isOf(.decimal))
        #expect(try ODataValue(lexical: text, type: .decimal).lexicalText == text)
        var json = JSONWriter()
        json.value(value, type: .primitive(.decimal), model: model)
        #expect(String(decoding: json.bytes, as: UTF8.self) == "\"\(text)\"")
        let validator = ValueValidator(model: model)
        func property(_ scale: Facets.Scale?) -> Property {
            Property(name: "Price", type: .primitive(.decimal), facets: Facets(precision: 7, scale: scale))
        }
        try validator.validate(value, for: property(.floating))
        for scale in [Facets.Scale.variable, .fixed(2), nil] {
            #expect(throws: InvalidValueError(.notFinite, path: "Price")) {
                try validator.validate(value, for: property(scale))
            }
        }
    }

    @Test("a floating-point number is no decimal, even without a fraction") func noDecimal() {
        #expect(!ODataValue.double(1).isOf(.decimal) && !ODataValue.double(0.5).isOf(.decimal))
    }

    @Test(
        "JSON Format 7.1: each type reads and writes its form",
        arguments: [
            ("true", "Edm.Boolean"), ("255", "Edm.Byte"), ("-128", "Edm.SByte"), ("-9223372036854775808", "Edm.Int64"),
            ("3.14", "Edm.Decimal"), ("\"INF\"", "Edm.Double"), ("\"NaN\"", "Edm.Single"), ("0.1", "Edm.Single"),
            ("\"Say \\\"Hi\\\"\"", "Edm.String"),
            ("\"T0RhdGE\"", "Edm.Binary"), ("\"01234567-89ab-cdef-0123-456789abcdef\"", "Edm.Guid"),
            ("\"2012-12-03\"", "Edm.Date"),
            ("\"07:59:59.999\"", "Edm.TimeOfDay"), ("\"2012-12-03T07:16:23Z\"", "Edm.DateTimeOffset"),
            ("\"P12DT23H59M59.999999999999S\"", "Edm.Duration"),
            ("\"Yellow,Blue\"", "Shop.Color"), ("\"8\"", "S.Color"), ("1.50", "Shop.Weight"),
            ("[1,null,2]", "Collection(Edm.Int32)"),
            ("{\"type\":\"Point\",\"coordinates\":[1,2]}", "Edm.GeographyPoint"), ("null", "Edm.String"),
            ("{\"Street\":\"x\",\"Zip\":1}", "Shop.Address"),
            (
                "{\"@odata.type\":\"#Shop.AddressAbroad\",\"Street\":\"x\",\"Country\":\"F\",\"Extra\":[1,\"a\"]}",
                "Shop.Address"
            ),
            ("{\"a\":{\"b\":[1.5,true]}}", "Edm.Untyped"),
        ])
    func roundTrip(json: String, type: String) throws {
        #expect(written(try read(json, type), type) == json)
    }

    @Test(
        "JSON Format 3.2: numbers are read as strings too",
        arguments: [
            ("\"12\"", "Edm.Int64", "12"), ("\"1.5\"", "Edm.Decimal", "1.5"), ("12", "Edm.Int64", "12"),
            ("1e2", "Edm.Int32", "100"), ("\"1.5\"", "Edm.Double", "1.5"),
        ])
    func lenientNumbers(json: String, type: String, written text: String) throws {
        #expect(written(try read(json, type), type) == text)
    }

    @Test("JSON Format 3.2: IEEE754Compatible writes 64-bit integers and decimals as strings")
    func ieee() {
        #expect(written(12, "Edm.Int64", ieee: true) == "\"12\"")
        #expect(written(12, "Edm.Int32", ieee: true) == "12")
        #expect(written(.decimal(ODataDecimal(5)), "Edm.Decimal", ieee: true) == "\"5\"")
    }

    @Test(
        "a value of the wrong kind or range is refused with the expected type",
        arguments: [
            ("256", "Edm.Byte", "a whole number from 0 to 255"), ("\"x\"", "Edm.Boolean", "true or false"),
            ("1", "Edm.String", "a string"),
            ("\"2012-13-03\"", "Edm.Date", "a date such as 2026-11-21"),
            ("1e999", "Edm.Double", "a number in the range of binary64, INF, -INF or NaN"),
            ("\"Pink\"", "Shop.Color", "a member of Shop.Color"), ("[]", "Shop.Address", "an object of Shop.Address"),
            ("{}", "Collection(Edm.Int32)", "an array for Collection(Edm.Int32)"),
            ("\"a\"", "Edm.Binary", "base64url"),
        ])
    func refused(json: String, type: String, expected: String) throws {
        let error = #expect(throws: JSONError.self) { try read(json, type) }
        #expect(error?.expected == expected)
        #expect(error?.position.offset == 0)
    }

    @Test("an error in a nested value names the property path")
    func path() {
        let error = #expect(throws: JSONError.self) {
            try read("[{\"Zip\":1},{\"Zip\":\"x\"}]", "Collection(Shop.Address)")
        }
        #expect(error?.path == "1/Zip")
    }

    @Test(
        "text forms read and print",
        arguments: [
            ("true", .boolean, "true"), ("1", .boolean, "true"), ("-0.50", .decimal, "-0.50"), ("1.0", .double, "1"),
            ("INF", .single, "INF"),
            ("/Date(0)/", .dateTime, "1970-01-01T00:00:00"),
            ("/Date(-1+0060)/", .dateTimeOffset, "1970-01-01T00:59:59.999+01:00"),
            ("PT13H", .time, "PT13H"), ("T0RhdGE=", .binary, "T0RhdGE"), ("+/8=", .binary, "-_8"),
            ("it's", .string, "it's"), ("007", .int32, "7"),
        ] as [(String, PrimitiveType, String)])
    func lexical(text: String, type: PrimitiveType, printed: String) throws {
        #expect(try ODataValue(lexical: text, type: type).lexicalText == printed)
    }

    @Test("invalid text is refused with the expected form")
    func notLexical() {
        let error = #expect(throws: LexicalError.self) { try ODataValue(lexical: "300", type: .byte) }
        #expect(error?.description == "\"300\" is no Edm.Byte; expected a whole number from 0 to 255.")
        #expect(throws: LexicalError.self) { try ODataValue(lexical: "/Date(9999999999999999999)/", type: .dateTime) }
        for offset in ["-9223372036854775808", "+9223372036854775807", "-0841", "+0841"] {
            let text = "/Date(0\(offset))/"
            #expect(throws: LexicalError.self) { try ODataValue(lexical: text, type: .dateTimeOffset) }
        }
        #expect(throws: LexicalError.self) { try ODataValue(lexical: "POINT(1)", type: .geographyPoint) }
    }

    @Test("@odata.type names built-in types without Edm and model types with #")
    func typeNames() {
        #expect(model.typeReference(fragment: "#Int64") == .primitive(.int64))
        #expect(model.typeReference(fragment: "#Collection(String)") == .collection(.primitive(.string)))
        #expect(model.typeReference(fragment: "http://host/s/$metadata#S.Color") == .enumeration(SampleModel.color))
        #expect(model.typeReference(fragment: "#Nope.Type") == .untyped("Nope.Type"))
    }
}
