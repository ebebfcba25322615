import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.3 and 11.4.9.3 PATCH merges complex values to any depth, PUT replaces them")
struct ComplexValueTests {
    private static let product = ##"""
        {"ID":1,"Open":{"X":"x","Dyn":"d","In":{"A":"a","B":"b","C":"c"}},
        "Plain":{"P":"p","Q":"q","In":{"A":"a","B":"b","C":"c"}},
        "Shape":{"@odata.type":"#T.Ball","P":"p","Size":1}}
        """##

    private func bazaar() async throws -> Bazaar { try await Depot.bazaar([(set: "Products", json: Self.product)]) }

    /// Returns the properties of a complex value, without those that are null.
    private func members(_ bazaar: Bazaar, _ path: String) async throws -> [String: ODataValue] {
        guard case .complex(let entity)? = try await bazaar.text("Products(1)/\(path)") else { return [:] }
        var members = entity.dynamicProperties
        for (property, value) in zip(entity.shape.properties, entity.values) { members[property.name] = value }
        return members.filter { !$0.value.isNull }
    }

    @Test("PATCH keeps omitted parts of a nested complex value", arguments: ["Open", "Plain"])
    func patch(name: String) async throws {
        let bazaar = try await bazaar()
        try await bazaar.send(.update, "Products(1)", #"{"\#(name)":{"In":{"A":"new","C":null}}}"#)
        #expect(try await members(bazaar, "\(name)/In") == ["A": "new", "B": "b"])
        try await bazaar.send(.update, "Products(1)/\(name)", #"{"In":{"B":"too"}}"#)
        #expect(try await members(bazaar, "\(name)/In") == ["A": "new", "B": "too"])
        try await bazaar.send(.update, "Products(1)/\(name)/In", #"{"D":"d"}"#)
        #expect(try await members(bazaar, "\(name)/In") == ["A": "new", "B": "too", "D": "d"])
        let rest = try await members(bazaar, name).filter { $0.key != "In" }
        #expect(rest == (name == "Open" ? ["X": "x", "Dyn": "d"] : ["P": "p", "Q": "q"]))
    }

    @Test("PUT of a nested property changes only that property", arguments: ["Open", "Plain"])
    func single(name: String) async throws {
        let bazaar = try await bazaar()
        try await bazaar.send(.replace, "Products(1)/\(name)/In/A", #"{"value":"n"}"#)
        #expect(try await members(bazaar, "\(name)/In") == ["A": "n", "B": "b", "C": "c"])
        try await bazaar.send(.delete, "Products(1)/\(name)/In/A")
        #expect(try await members(bazaar, "\(name)/In") == ["B": "b", "C": "c"])
        #expect(try await members(bazaar, name).count == 3)
    }

    @Test("PUT of a complex property removes the old value, dynamic properties included")
    func put() async throws {
        let bazaar = try await bazaar()
        for name in ["Open", "Plain"] {
            try await bazaar.send(.replace, "Products(1)/\(name)/In", #"{"A":"only"}"#)
            #expect(try await members(bazaar, "\(name)/In") == ["A": "only"])
            #expect(try await members(bazaar, name).count == 3, "what stands beside it stays")
        }
        try await bazaar.send(.replace, "Products(1)/Open", #"{"X":"only"}"#)
        #expect(try await members(bazaar, "Open") == ["X": "only"])
        try await bazaar.send(.replace, "Products(1)/Plain", #"{"P":"only"}"#)
        #expect(try await members(bazaar, "Plain") == ["P": "only"])
    }

    @Test("PUT of a complex property also replaces its type")
    func type() async throws {
        let bazaar = try await bazaar()
        try await bazaar.send(.replace, "Products(1)/Shape", ##"{"@odata.type":"#T.Shape","P":"new"}"##)
        guard case .complex(let shape)? = try await bazaar.text("Products(1)/Shape") else {
            throw ODataError.notFound("Shape")
        }
        #expect(shape.shape.name == QualifiedName("T", "Shape"))
        #expect(try await members(bazaar, "Shape") == ["P": "new"])
    }

    @Test("Setting a property of a null complex value creates the value")
    func null() async throws {
        let bazaar = try await bazaar()
        for name in ["Open", "Plain"] {
            try await bazaar.send(.delete, "Products(1)/\(name)")
            try await bazaar.send(.replace, "Products(1)/\(name)/In/A", #"{"value":"n"}"#)
            #expect(try await members(bazaar, "\(name)/In") == ["A": "n"])
        }
    }

    @Test("Dynamic complex properties are merged as well")
    func dynamic() async throws {
        let bazaar = try await bazaar()
        try await bazaar.send(.update, "Products(1)", #"{"Open":{"More":{"A":"a","B":"b"}}}"#)
        try await bazaar.send(.update, "Products(1)", #"{"Open":{"More":{"B":null,"C":"c"}}}"#)
        guard case .complex(let more)? = try await members(bazaar, "Open")["More"] else {
            throw ODataError.notFound("More")
        }
        #expect(more.dynamicProperties == ["A": "a", "C": "c"])
        let notes = try await Bazaar()
        try await notes.create("Notes", #"{"ID":1,"More":{"A":"a","B":"b"}}"#)
        try await notes.send(.update, "Notes(1)", #"{"More":{"B":null,"C":"c"}}"#)
        guard case .complex(let own)? = try await notes.entity("Notes(1)")?.dynamicProperties["More"] else {
            throw ODataError.notFound("More")
        }
        #expect(own.dynamicProperties == ["A": "a", "C": "c"])
    }
}
