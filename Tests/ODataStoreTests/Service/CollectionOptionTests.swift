import ODataModel
import ODataService
import Testing

@testable import ODataStore

@Suite("Changes of whole collections refuse query options that select rows")
struct CollectionOptionTests {
    private static func bazaar() async throws -> Bazaar {
        let bazaar = try await Bazaar()
        for name in ["a", "b"] { try await bazaar.create("Products", #"{"Name":"\#(name)","Tags":["x"]}"#) }
        return bazaar
    }

    @Test(
        "11.4.12 PUT and PATCH of a collection refuse all options that change the result shape",
        arguments: [
            "$filter=Price gt 100000", "$search=zzz", "$top=0", "$skip=100", "$orderby=Name", "$select=Name",
            "$expand=Category",
            "$count=true", "$compute=Price add 1 as P", "$apply=filter(Price gt 1)",
        ])
    func options(option: String) async throws {
        let bazaar = try await Self.bazaar()
        for method in [ODataRequest.Method.replace, .update] {
            let refused = try await bazaar.refusal(method, "Products?\(option)", "[]")
            #expect(refused?.status == 400, "\(method)")
            #expect(refused?.target == String(option.prefix { $0 != "=" }))
        }
        #expect(try await bazaar.names("Products?$orderby=Name") == ["a", "b"])
    }

    @Test("11.4.12 the path of a replaced collection may not end in a type")
    func cast() async throws {
        let bazaar = try await Self.bazaar()
        try await bazaar.create("Products", ##"{"@odata.type":"#Bazaar.Bargain","Name":"c"}"##)
        for method in [ODataRequest.Method.replace, .update] {
            #expect(try await bazaar.refusal(method, "Products/Bazaar.Bargain", "[]")?.status == 400)
        }
        #expect(try await bazaar.names("Products").count == 3)
    }

    @Test("11.2.1 other changes of whole collections refuse these options as well")
    func others() async throws {
        let bazaar = try await Self.bazaar()
        let product = try #require(try await bazaar.page("Products?$filter=Name eq 'a'").entities.first?.control.id)
        let other = try #require(try await bazaar.page("Products?$filter=Name eq 'b'").entities.first?.control.id)
        try await bazaar.send(.create, "\(product)/Related/$ref", #"{"id":"\#(other)"}"#)
        #expect(
            try await bazaar.refusal(.replace, "\(product)/Related/$ref?$filter=Name eq 'x'", #"{"value":[]}"#)?.status
                == 400)
        #expect(try await bazaar.refusal(.replace, "\(product)/Related?$top=0", "[]")?.status == 400)
        #expect(try await bazaar.refusal(.delete, "\(product)/Tags?$filter=$it eq 'y'")?.status == 400)
        #expect(try await bazaar.refusal(.delete, "\(product)?$filter=Name eq 'x'")?.status == 400)
        #expect(try await bazaar.names("\(product)/Related") == ["b"])
        // `$select` on a single entity shapes the response.
        #expect(try await bazaar.send(.update, "\(product)?$select=Name", #"{"Price":2}"#).status < 300)
        #expect(try await bazaar.send(.replace, "Products", "[]").status == 204)
        #expect(try await bazaar.names("Products").isEmpty)
    }
}
