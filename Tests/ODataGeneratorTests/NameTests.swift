import Foundation
import ODataGenerator
import Testing

@testable import ODataGenerator

@Suite("Names")
struct NameTests {
    @Test(
        "Types begin with capitals",
        arguments: [
            ("order", "Order"), ("Order_Details", "OrderDetails"), ("SALES_ORDER", "SalesOrder"), ("VBAK", "VBAK"),
            ("with space", "WithSpace"), ("1st", "_1st"), ("", "Unnamed"), ("Größe", "Größe"), ("名前", "名前"),
            ("😀", "U1F600"), ("Type", "Type_"), ("Self", "Self_"), ("Protocol", "Protocol_"), ("a.b-c", "ABC"),
        ])
    func types(name: String, expected: String) { #expect(SwiftName.type(name) == expected) }

    @Test(
        "Members begin with a small letter",
        arguments: [
            ("OrderID", "orderID"), ("ID", "id"), ("IDs", "ids"), ("URLPath", "urlPath"), ("Name", "name"),
            ("CUSTOMER_NAME", "customerName"), ("KUNNR", "kunnr"), ("is loaded", "isLoaded"), ("class", "class"),
            ("init", "init_"), ("self", "self_"), ("😀", "u1F600"), ("123", "_123"), ("_", "unnamed"),
            ("X509Certificate", "x509Certificate"), ("a/b", "aB"), ("$it", "it"),
        ])
    func members(name: String, expected: String) { #expect(SwiftName.member(name) == expected) }

    @Test("Names of 300 characters are cut to 100 with a hash and stay distinct")
    func long() {
        let one = SwiftName.member(String(repeating: "a", count: 300))
        let other = SwiftName.member(String(repeating: "a", count: 299) + "b")
        #expect(one.count == SwiftName.maxLength + 9)
        #expect(one != other)
        #expect(SwiftName.member(String(repeating: "a", count: 100)).count == 100)
        #expect(SwiftName.member(String(repeating: "a", count: 101)).count == 109)
    }

    @Test("Public type names of the library are reserved, so that code can use them")
    func libraryTypes() throws {
        let sources = Documents.folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources")
        let declaration = /^(?:public|package) (?:final |indirect )*(?:struct|class|enum|protocol|typealias) (\w+)/
            .anchorsMatchLineEndings()
        var seen = 0
        for library in ["Language/ODataModel", "Language/ODataQuery", "Protocol/ODataService"] {
            let folder = sources.appendingPathComponent(library)
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift")
            {
                let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                for match in text.matches(of: declaration) {
                    seen += 1
                    #expect(ReservedNames.libraryTypes.contains(String(match.1)), "\(match.1) of \(path)")
                }
            }
        }
        #expect(seen > 100)
    }

    @Test("A used name gets the namespace in front, then a number")
    func collisions() throws {
        let code = try Documents.code(
            schema: """
                <ComplexType Name="Entity"><Property Name="Text" Type="Edm.String"/></ComplexType>
                <ComplexType Name="Order"><Property Name="A" Type="Edm.String"/></ComplexType>
                <ComplexType Name="order"><Property Name="A" Type="Edm.String"/></ComplexType>
                <ComplexType Name="ShopOrder"><Property Name="A" Type="Edm.String"/></ComplexType>
                """)
        for name in ["ShopEntity", "Order", "ShopOrder", "ShopOrder2"] {
            #expect(code.text.contains("struct \(name): "), "\(name)")
        }
    }

    @Test(
        "A type with the name of a request parameter type is renamed",
        arguments: ["Element", "Value", "Member"])
    func parametersOfRequests(name: String) throws {
        let code = try Documents.code(
            schema: """
                <EntityType Name="\(name)"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/></EntityType>
                <Action Name="Make" IsBound="true"><Parameter Name="it" Type="My.Shop.\(name)"/>
                <ReturnType Type="My.Shop.\(name)"/></Action>
                <EntityContainer Name="C"><EntitySet Name="Things" EntityType="My.Shop.\(name)"/></EntityContainer>
                """)
        #expect(code.text.contains("struct Shop\(name): "))
        #expect(code.text.contains("extension EntityRequest where Element == Shop\(name)"))
        #expect(code.text.contains("-> Shop\(name)?"))
        #expect(throws: GeneratorError.nameTaken(name, for: "Harbour.Ship")) {
            try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship": name]))
        }
    }

    @Test("A Swift keyword is valid as a property name and not as a type name")
    func keywords() throws {
        #expect(throws: GeneratorError.illegalName("class", for: "Harbour.Ship")) {
            try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship": "class"]))
        }
        let code = try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship/Name": "class"]))
        #expect(code.text.contains("var `class`: String?"))
    }

    @Test("A collection of bytes is passed as members, not as a binary value")
    func bytes() throws {
        let code = try Documents.code(
            schema: """
                <Action Name="Send"><Parameter Name="few" Type="Collection(Edm.Byte)" Nullable="false"/>
                <Parameter Name="more" Type="Collection(Edm.Byte)" Nullable="false">
                <Annotation Term="Org.OData.Core.V1.OptionalParameter"><Record/></Annotation></Parameter>
                <Parameter Name="data" Type="Edm.Binary" Nullable="false"/></Action>
                <EntityContainer Name="C"><ActionImport Name="Send" Action="My.Shop.Send"/></EntityContainer>
                """)
        #expect(code.text.contains("few: [UInt8], "))
        #expect(code.text.contains(#"odataCall.setMembers("few", few)"#))
        #expect(code.text.contains(#"odataCall.setOptionalMembers("more", more)"#))
        #expect(code.text.contains(#"odataCall.set("data", data)"#))
    }

    @Test("Long chains of derived types do not exhaust the stack")
    func deepInheritance() throws {
        var schema = """
            <EntityType Name="T0"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Things" EntityType="My.Shop.T0"/></EntityContainer>
            """
        for number in 1..<8000 { schema += "<EntityType Name=\"T\(number)\" BaseType=\"My.Shop.T\(number - 1)\"/>" }
        let code = try Documents.code(schema: schema, GeneratorConfiguration(sets: ["Things"], files: 1))
        #expect(code.structuredTypes == 8000)
    }

    @Test("Configured names take precedence, and invalid or used ones are refused")
    func overrides() throws {
        let names = [
            "Harbour.Ship": "Vessel", "Harbour.Ship/Length": "metres", "Harbour.HarbourContainer/Ships": "vessels",
            "Harbour.Move": "shift", "Harbour.Move/to": "place", "Harbour.ShipKind/None": "unknown",
        ]
        let code = try Documents.code("harbour.xml", GeneratorConfiguration(names: names))
        for text in [
            "struct Vessel:", "var metres: ODataDecimal?", "var vessels: TypedCollection<Vessel>",
            "func shift(place: Position", "case unknown = 9",
        ] { #expect(code.text.contains(text), "\(text)") }

        #expect(throws: GeneratorError.illegalName("a b", for: "Harbour.Ship")) {
            try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship": "a b"]))
        }
        #expect(throws: GeneratorError.illegalName("self", for: "Harbour.Ship/Name")) {
            try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship/Name": "self"]))
        }
        #expect(throws: GeneratorError.nameTaken("String", for: "Harbour.Ship")) {
            try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship": "String"]))
        }
        #expect(throws: GeneratorError.nameTaken("x", for: "Harbour.Ship/Name")) {
            try Documents.code(
                "harbour.xml", GeneratorConfiguration(names: ["Harbour.Ship/Length": "x", "Harbour.Ship/Name": "x"]))
        }
        let unknown = try Documents.code("harbour.xml", GeneratorConfiguration(names: ["Harbour.Tug": "Tug"]))
        #expect(unknown.omissions.contains { $0.element == "Harbour.Tug" })
    }

    @Test("Every declaration of hostile metadata is a Swift identifier")
    func hostile() throws {
        let code = try Documents.code("hostile.xml", GeneratorConfiguration(files: 1))
        let declaration = /(?:struct|enum|protocol|var|let|func|case) `?([^\s`:(]+)/
        var seen = 0
        for line in code.text.split(separator: "\n") where !line.contains("//") && !line.contains("odataCall") {
            guard !line.contains("<"), let match = line.firstMatch(of: declaration) else { continue }
            seen += 1
            #expect(SwiftName.isIdentifier(String(match.1)), "\(line)")
        }
        #expect(seen > 200)
    }
}
