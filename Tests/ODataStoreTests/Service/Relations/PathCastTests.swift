import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("4.11 (URL) Type casts in the path of a change")
struct PathCastTests {
    @Test("11.4.12 Replacing a collection replaces all members, not only those of one type")
    func replacedMembers() async throws {
        let bazaar = try await Depot.bazaar()
        try await bazaar.create("Orders", ##"{"@odata.type":"#T.SpecialOrder","ID":4,"CustomerID":"A"}"##)
        let before = try await bazaar.values("Orders", "CustomerID")
        #expect(try await bazaar.refusal(.replace, "Customers('A')/Orders/T.SpecialOrder", "[]")?.status == 400)
        #expect(try await bazaar.values("Orders", "CustomerID") == before)
    }

    /// Returns a service with a cat and a dog.
    private func animals() async throws -> Bazaar {
        try await Depot.bazaar([
            (set: "Tags", json: #"{"ID":1,"Name":"ball"}"#),
            ("Animals", ##"{"@odata.type":"#T.Dog","ID":1,"Breed":"Spitz"}"##),
            ("Animals", ##"{"@odata.type":"#T.Cat","ID":2}"##),
        ])
    }

    @Test(
        "An entity of another type does not have the properties of a derived type",
        arguments: [
            (ODataRequest.Method.create, "T.Dog/Toys", #"{"ID":77,"Name":"toy"}"#),
            (.create, "T.Dog/Toys/$ref", #"{"id":"Tags(1)"}"#),
            (.replace, "T.Dog/Toys/$ref", #"{"value":["Tags(1)"]}"#),
            (.delete, "T.Dog/Toys(1)/$ref", nil), (.replace, "T.Dog/Breed", #"{"value":"Pug"}"#),
            (.delete, "T.Dog/Breed", nil), (.update, "T.Dog", #"{"Breed":"Pug"}"#), (.delete, "T.Dog", nil),
        ] as [(ODataRequest.Method, String, String?)])
    func otherType(method: ODataRequest.Method, path: String, body: String?) async throws {
        let bazaar = try await animals()
        #expect(try await bazaar.refusal(method, "Animals(2)/\(path)", body)?.status == 404)
        #expect(try await bazaar.page("Tags").entities.count == 1)
        #expect(try await bazaar.page("Animals").entities.count == 2)
    }

    @Test("An entity of the derived type has them")
    func sameType() async throws {
        let bazaar = try await animals()
        try await bazaar.send(.create, "Animals(1)/T.Dog/Toys", #"{"ID":77,"Name":"toy"}"#)
        try await bazaar.send(.create, "Animals(1)/T.Dog/Toys/$ref", #"{"id":"Tags(1)"}"#)
        #expect(try await bazaar.names("Animals(1)/T.Dog/Toys?$orderby=ID") == ["ball", "toy"])
        try await bazaar.send(.replace, "Animals(1)/T.Dog/Breed", #"{"value":"Pug"}"#)
        #expect(try await bazaar.text("Animals(1)/T.Dog/Breed") == "Pug")
    }

    @Test("A complex value of another type does not have them either")
    func complexValues() async throws {
        let bazaar = try await Depot.bazaar([
            (set: "Products", json: ##"{"ID":1,"Shape":{"@odata.type":"#T.Ball","P":"p","Size":1}}"##),
            ("Products", #"{"ID":2,"Shape":{"P":"p"}}"#),
        ])
        let size = #"{"value":7}"#
        #expect(try await bazaar.refusal(.replace, "Products(2)/Shape/T.Ball/Size", size)?.status == 404)
        try await bazaar.send(.replace, "Products(1)/Shape/T.Ball/Size", size)
        #expect(try await bazaar.text("Products(1)/Shape/T.Ball/Size") == 7)
        #expect(try await bazaar.text("Products(1)/Shape/P") == "p")
    }
}
