import ODataModel
import ODataService
import Testing

@testable import ODataSQL

@Suite("Dependents with a foreign key in their key")
struct KeyedDependentTests {
    let bazaar: Bazaar
    let mug: String
    let cup: String
    let text: String
    let other: String

    init() async throws {
        bazaar = try await Bazaar()
        let first = try await bazaar.create(
            "Products", #"{"Name":"Mug","Texts":[{"Language":"EN"},{"Language":"DE"}]}"#)
        let second = try await bazaar.create("Products", #"{"Name":"Cup","Texts":[{"Language":"FR"}]}"#)
        mug = try #require(first.control.id)
        cup = try #require(second.control.id)
        text = "Texts(ProductID=\(try #require(first["ID"]?.lexicalText)),Language='EN')"
        other = "Texts(ProductID=\(try #require(second["ID"]?.lexicalText)),Language='FR')"
    }

    private func expectUnchanged(_ location: SourceLocation = #_sourceLocation) async throws {
        #expect(
            try await bazaar.names("\(mug)/Texts?$orderby=Language", "Language") == ["DE", "EN"],
            sourceLocation: location)
        #expect(try await bazaar.names("\(cup)/Texts", "Language") == ["FR"], sourceLocation: location)
        #expect(try await bazaar.page("Products").entities.count == 2, sourceLocation: location)
    }

    @Test(
        "11.4.3.1, 11.4.6.2, 11.4.6.4 removing contained entities from the relation is refused"
    )
    func takenAway() async throws {
        let requests: [(ODataRequest.Method, String, String?)] = [
            (.replace, "\(mug)/Texts/$ref", #"{"value":[]}"#),
            (.replace, "\(mug)/Texts/$ref", #"{"value":["\#(text)"]}"#),
            (.update, mug, #"{"Texts@delta":[{"@removed":{"reason":"changed"},"@id":"\#(text)"}]}"#),
            (.update, mug, #"{"Texts":[{"Language":"EN"}]}"#), (.update, mug, #"{"Texts":[]}"#),
            (.replace, "\(mug)/Texts", #"[{"Language":"EN"}]"#),
            (.delete, "\(mug)/Texts/$ref?$id=\(text)", nil), (.delete, "\(mug)/Texts('EN')/$ref", nil),
            (.delete, "\(text)/Product/$ref", nil), (.update, text, #"{"Product@odata.bind":null}"#),
        ]
        for (method, url, body) in requests {
            let refused = try await bazaar.refusal(method, url, body)
            #expect(
                refused.map { [400, 409].contains($0.status) } == true,
                "\(method) \(url) \(body ?? "") \(refused as Any)")
            try await expectUnchanged()
        }
    }

    @Test("11.4.2.1, 11.4.6.1 relating the contained entities of another entity is refused")
    func related() async throws {
        let requests: [(ODataRequest.Method, String, String?)] = [
            (.create, "\(mug)/Texts/$ref", #"{"id":"\#(other)"}"#),
            (.replace, "\(mug)/Texts/$ref", #"{"value":["\#(other)"]}"#),
            (.update, mug, #"{"Texts@odata.bind":["\#(other)"]}"#),
            (.update, mug, #"{"Texts@delta":[{"@id":"\#(other)"}]}"#),
            (.update, mug, #"{"Texts@delta":[{"@id":"\#(other)","Text":"x"}]}"#),
            (.create, "Products", #"{"Name":"Bowl","Texts@odata.bind":["\#(other)"]}"#),
            (.create, "Products", #"{"Name":"Bowl","Texts":[{"@id":"\#(other)"}]}"#),
            (.replace, "\(text)/Product/$ref", #"{"id":"\#(cup)"}"#),
            (.update, text, #"{"Product@odata.bind":"\#(cup)"}"#),
        ]
        for (method, url, body) in requests {
            let refused = try await bazaar.refusal(method, url, body)
            #expect(
                refused.map { [400, 409].contains($0.status) } == true,
                "\(method) \(url) \(body ?? "") \(refused as Any)")
            try await expectUnchanged()
        }
    }

    @Test("11.4.6.1 an existing relation stays, and an explicit deletion works")
    func allowed() async throws {
        #expect(try await bazaar.send(.create, "\(mug)/Texts/$ref", #"{"id":"\#(text)"}"#).status == 204)
        try await bazaar.send(.update, mug, #"{"Texts@delta":[{"@id":"\#(text)","Text":"x"},{"Language":"IT"}]}"#)
        #expect(try await bazaar.names("\(mug)/Texts?$orderby=Language", "Language") == ["DE", "EN", "IT"])
        try await bazaar.send(.update, mug, #"{"Texts@delta":[{"@removed":{"reason":"deleted"},"@id":"\#(text)"}]}"#)
        #expect(try await bazaar.names("\(mug)/Texts?$orderby=Language", "Language") == ["DE", "IT"])
        // The texts are deleted with their product, as the model states.
        #expect(try await bazaar.send(.delete, mug).status == 204)
        #expect(try await bazaar.names("Texts", "Language") == ["FR"])
    }

    @Test("CSDL 8.6 OnDelete SetNull and SetDefault: 409 if dependents require their foreign key")
    func onDelete() async throws {
        for action in ["SetNull", "SetDefault"] {
            let bazaar = try await Bazaar(replacing: [
                #"<OnDelete Action="Cascade"/>"#: #"<OnDelete Action="\#(action)"/>"#
            ])
            let mug = try await bazaar.create("Products", #"{"Name":"Mug","Texts":[{"Language":"EN"}]}"#)
            #expect(try await bazaar.refusal(.delete, try #require(mug.control.id))?.status == 409)
            #expect(try await bazaar.names("Texts", "Language") == ["EN"])
        }
    }

    @Test("11.4.3 a relation does not change an immutable or computed foreign key")
    func immutable() async throws {
        let property = #"<Property Name="CategoryID" Type="Edm.Int32"/>"#
        for term in ["Immutable", "Computed"] {
            let bazaar = try await Bazaar(replacing: [
                property: #"<Property Name="CategoryID" Type="Edm.Int32"><Annotation Term="Core.\#(term)"/></Property>"#
            ])
            try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
            let mug = try #require(try await bazaar.create("Products", #"{"Name":"Mug"}"#).control.id)
            let refused = try await bazaar.refusal(.create, "Categories(1)/Products/$ref", #"{"id":"\#(mug)"}"#)
            #expect(refused?.status == 409)
            #expect(refused?.target == "Products")
        }
    }
}
