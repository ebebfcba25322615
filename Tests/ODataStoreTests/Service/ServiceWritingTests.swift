import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("A service on its own model: creating, changing, deleting")
struct ServiceWritingTests {
    @Test("11.4.2 Create an Entity: the service gives keys, versions and computed values")
    func create() async throws {
        let bazaar = try await Bazaar()
        let product = try await bazaar.create("Products", #"{"Name":"Mug","CreatedAt":"1999-01-01T00:00:00Z"}"#)
        #expect(product.key != nil)
        #expect(product["Price"] == .double(1))
        #expect(product["Version"] == 1)
        #expect(product["CreatedAt"] == .dateTimeOffset(bazaar.clock.now))
        #expect(product["Tags"] == [])
        #expect(product.control.etag == "W/\"1\"")
        let id = try #require(product.control.id)
        #expect(try await bazaar.entity(id)?["Name"] == "Mug")
        let first = try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        let second = try await bazaar.create("Categories", #"{"Name":"Office"}"#)
        #expect(first["ID"] == 1)
        #expect(second["ID"] == 2)
        try await bazaar.send(.delete, "Categories(2)")
        #expect(try await bazaar.create("Categories", #"{"Name":"Garden"}"#)["ID"] == 3)
    }

    @Test("11.4.2 Create an Entity: derived types are stored with their type")
    func derived() async throws {
        let bazaar = try await Bazaar()
        let bargain = try await bazaar.create(
            "Products", ##"{"@odata.type":"#Bazaar.Bargain","Name":"Mug","Discount":5}"##)
        #expect(bargain.shape.name == Bazaar.name("Bargain"))
        try await bazaar.create("Products", #"{"Name":"Cup"}"#)
        #expect(try await bazaar.names("Products/Bazaar.Bargain") == ["Mug"])
    }

    @Test("9.3.1 400 Bad Request: a value that breaks the model is refused with the property as target")
    func refusals() async throws {
        let bazaar = try await Bazaar()
        let cases = [
            (#"{}"#, "Name"), (#"{"Name":"123456789012345678901"}"#, "Name"),
            (#"{"Name":"x","Price":null}"#, "Price"),
            (#"{"Name":"x","Address":{"City":"123456789012345678901"}}"#, "Address/City"),
            (#"{"Name":"x","Tags":[null]}"#, nil),
        ]
        for (json, target) in cases {
            let error = try await bazaar.refusal(.create, "Products", json)
            if let target {
                #expect(error?.status == 400, "\(json)")
                #expect(error?.target == target)
            }
        }
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        let twice = try await bazaar.refusal(.create, "Categories", #"{"Name":"Kitchen"}"#)
        #expect(twice?.status == 409)
        #expect(twice?.target == "Name")
    }

    @Test("9.3.6 405 Method Not Allowed: restrictions of the Capabilities vocabulary, with Allow")
    func restrictions() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.service.seed(json: Array(#"{"Fixed":[{"ID":1,"Name":"a"}]}"#.utf8))
        let create = try await bazaar.refusal(.create, "Fixed", #"{"Name":"b"}"#)
        #expect(create?.status == 405)
        let update = try await bazaar.refusal(.update, "Fixed(1)", #"{"Name":"b"}"#)
        #expect(update?.status == 405)
        #expect(update?.allowedMethods == ["GET"])
        let delete = try await bazaar.refusal(.delete, "Fixed(1)")
        #expect(delete?.status == 405)
        #expect(try await bazaar.refusal(.delete, "Shop")?.status == 405)
    }

    @Test("11.4.3 PATCH keeps omitted properties, 11.4.3 PUT resets them; key and immutable properties stay")
    func update() async throws {
        let bazaar = try await Bazaar()
        let product = try await bazaar.create(
            "Products",
            #"{"Name":"Mug","Price":5,"Serial":"A1","Tags":["a"],"Address":{"Street":"s","City":"c"}}"#)
        let id = try #require(product.control.id)
        let patched = try await bazaar.send(
            .update, id, #"{"Price":6,"Serial":"B2","Address":{"City":"d"},"Version":77}"#)
        #expect(patched.status == 204)
        #expect(patched.etag == "W/\"2\"")
        let after = try #require(try await bazaar.entity(id))
        #expect(after["Name"] == "Mug")
        #expect(after["Price"] == .double(6))
        #expect(after["Serial"] == "A1")
        #expect(after["Version"] == 2)
        guard case .complex(let address)? = after["Address"] else { throw ODataError.notFound("Address") }
        #expect(address["Street"] == "s")
        #expect(address["City"] == "d")
        let replaced = try await bazaar.send(.replace, id, #"{"Name":"Cup","Address":{"City":"e"}}"#)
        #expect(replaced.etag == "W/\"3\"")
        let final = try #require(try await bazaar.entity(id))
        #expect(final["Price"] == .double(1))
        #expect(final["Tags"] == [])
        #expect(final["Serial"] == "A1")
        #expect(final["CreatedAt"] == product["CreatedAt"])
        guard case .complex(let other)? = final["Address"] else { throw ODataError.notFound("Address") }
        #expect(other["Street"] == .null)
        #expect(other["City"] == "e")
        // A change without effect counts as a change.
        #expect(try await bazaar.send(.update, id, "{}").etag == "W/\"4\"")
    }

    @Test("8.2.4 If-Match and 8.2.5 If-None-Match: 412 for a false condition, 428 for a missing ETag")
    func preconditions() async throws {
        var options = StoreService.Options()
        options.requiresETags = true
        let bazaar = try await Bazaar(options: options)
        let id = try #require(try await bazaar.create("Products", #"{"Name":"Mug"}"#).control.id)
        #expect(try await bazaar.refusal(.update, id, "{}")?.status == 428)
        #expect(try await bazaar.refusal(.delete, id)?.status == 428)
        #expect(try await bazaar.refusal(.update, id, "{}", ifMatch: "W/\"9\"")?.status == 412)
        #expect(try await bazaar.refusal(.update, id, "{}", ifNoneMatch: "*")?.status == 412)
        #expect(try await bazaar.send(.update, id, "{}", ifMatch: "W/\"1\"").status == 204)
        #expect(try await bazaar.send(.update, id, "{}", ifMatch: "*").status == 204)
        #expect(try await bazaar.refusal(.delete, id, ifMatch: "W/\"1\"")?.status == 412)
        #expect(try await bazaar.send(.delete, id, ifMatch: "W/\"3\"").status == 204)
        // Sets without ETags require none.
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        #expect(try await bazaar.send(.delete, "Categories(1)").status == 204)
    }

    @Test(
        "11.4.1.1 Core.OptimisticConcurrency is enforced with any options: 428, and nothing is changed",
        arguments: [false, true])
    func concurrency(isOnType: Bool) async throws {
        let term =
            #"<Annotation Term="Core.OptimisticConcurrency"><Collection><PropertyPath>Version</PropertyPath></Collection></Annotation>"#
        let type = #"<NavigationProperty Name="Related" Type="Collection(Bazaar.Product)"/>"#
        let set = #"<NavigationPropertyBinding Path="Related" Target="Products"/>"#
        let singleton = #"<Singleton Name="Shop" Type="Bazaar.Shop"/>"#
        var options = StoreService.Options()
        options.requiresETags = false
        let bazaar = try await Bazaar(
            options: options,
            replacing: [
                isOnType ? type : set: isOnType ? type + term : set + term,
                singleton: #"<Singleton Name="Shop" Type="Bazaar.Shop">\#(term)</Singleton>"#,
            ]
        ) { definition in
            let product = OperationBinding.entity(Bazaar.name("Product"))
            try definition.action("Touch", on: product, parameters: []) { _ in .none }
        }
        let mug = try await bazaar.create("Products", #"{"Name":"Mug","Texts":[{"Language":"EN"}]}"#)
        let id = try #require(mug.control.id)
        let cup = try #require(try await bazaar.create("Products", #"{"Name":"Cup"}"#).control.id)
        let changes: [(ODataRequest.Method, String, String?)] = [
            (.update, id, #"{"Name":"x"}"#), (.replace, id, #"{"Name":"x"}"#), (.delete, id, nil),
            (.replace, "\(id)/Name", #"{"value":"x"}"#), (.delete, "\(id)/Address", nil),
            (.create, "\(id)/Tags", #"{"value":"x"}"#), (.create, "\(id)/Related/$ref", #"{"@id":"\#(cup)"}"#),
            (.create, "\(id)/Bazaar.Touch", "{}"),
        ]
        for (method, url, body) in changes {
            #expect(try await bazaar.refusal(method, url, body)?.status == 428, "\(method) \(url)")
            #expect(try await bazaar.refusal(method, url, body, ifMatch: "W/\"9\"")?.status == 412, "\(method) \(url)")
        }
        let stored = try #require(try await bazaar.entity(id))
        #expect(stored["Name"] == "Mug")
        #expect(stored["Version"] == 1)
        #expect(try await bazaar.send(.update, id, #"{"Name":"Bowl"}"#, ifMatch: "W/\"1\"").status == 204)
        #expect(try await bazaar.send(.delete, id, ifMatch: "*").status == 204)
        try await bazaar.service.seed(json: Array(#"{"Shop":{"ID":1,"Name":"Corner"}}"#.utf8))
        #expect(try await bazaar.refusal(.update, "Shop", #"{"Name":"x"}"#)?.status == 428)
        #expect(try await bazaar.send(.update, "Shop", #"{"Name":"x"}"#, ifMatch: "W/\"1\"").status == 204)
    }

    @Test("11.4.4 Upsert an Entity: PATCH and PUT create a missing entity unless a condition forbids it")
    func upsert() async throws {
        let bazaar = try await Bazaar()
        let created = try await bazaar.send(.update, "Categories(7)", #"{"Name":"Garden"}"#)
        #expect(created.status == 201)
        #expect(created.location == "Categories(7)")
        #expect(try await bazaar.refusal(.update, "Categories(8)", #"{"Name":"x"}"#, ifMatch: "*")?.status == 412)
        #expect(
            try await bazaar.refusal(.replace, "Categories(7)", #"{"Name":"x"}"#, ifNoneMatch: "*")?.status == 412)
        #expect(
            try await bazaar.send(.replace, "Categories(8)", #"{"Name":"x"}"#, ifNoneMatch: "*").status == 201)
    }

    @Test("11.4.2.2 Create Related Entities When Creating an Entity: to any depth, and the response contains them")
    func deepInsert() async throws {
        let bazaar = try await Bazaar()
        let category = try await bazaar.create(
            "Categories",
            """
            {"Name":"Kitchen","Products":[{"Name":"Mug","Texts":[{"Language":"EN","Text":"A mug"}],
            "Related":[{"Name":"Spoon","Category":{"Name":"Cutlery"}}]}]}
            """)
        guard case .many(let products, _, _)? = category.related["Products"], let mug = products.first,
            case .many(let related, _, _)? = mug.related["Related"], let spoon = related.first
        else { throw ODataError.notFound("Products") }
        #expect(mug["CategoryID"] == category["ID"])
        guard case .one(let cutlery)? = spoon.related["Category"] else { throw ODataError.notFound("Category") }
        #expect(cutlery["Name"] == "Cutlery")
        let read = try #require(
            try await bazaar.entity("Categories(1)?$expand=Products($expand=Texts,Related($expand=Category))"))
        guard case .many(let stored, _, _)? = read.related["Products"],
            case .many(let texts, _, _)? = stored[0].related["Texts"]
        else { throw ODataError.notFound("Products") }
        #expect(texts.map { $0["Text"] } == ["A mug"])
    }

    @Test("11.4.2.1 Link to Related Entities When Creating an Entity, and 11.4.3 when changing one")
    func bind() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        try await bazaar.create("Categories", #"{"Name":"Office"}"#)
        let mug = try await bazaar.create("Products", #"{"Name":"Mug","Category@odata.bind":"Categories(1)"}"#)
        #expect(mug["CategoryID"] == 1)
        let cup = try await bazaar.create("Products", #"{"Name":"Cup","Category":{"@id":"Categories(2)"}}"#)
        #expect(cup["CategoryID"] == 2)
        let id = try #require(mug.control.id)
        try await bazaar.send(.update, id, #"{"Category@odata.bind":"Categories(2)"}"#)
        #expect(try await bazaar.entity(id)?["CategoryID"] == 2)
        try await bazaar.send(.update, id, #"{"Category":null}"#)
        #expect(try await bazaar.entity(id)?["CategoryID"] == .null)
        let refused = try await bazaar.refusal(
            .create, "Products",
            #"{"Name":"x","Related@odata.bind":["Products(00000000-0000-0000-0000-000000000000)"]}"#)
        #expect(refused?.status == 400)
        // The failed change has no effect at all.
        #expect(try await bazaar.names("Products?$filter=Name eq 'x'") == [])
    }

    @Test("11.4.3.1 Update Related Entities When Updating an Entity: a complete collection")
    func deepUpdate() async throws {
        let bazaar = try await Bazaar()
        let mug = try await bazaar.create(
            "Products",
            #"{"Name":"Mug","Texts":[{"Language":"EN","Text":"mug"},{"Language":"DE","Text":"Becher"}]}"#)
        let id = try #require(mug.control.id)
        try await bazaar.send(
            .update, id,
            #"{"Texts":[{"Language":"EN","Text":"big mug"},{"Language":"DE"},{"Language":"FR","Text":"tasse"}],"#
                + #""Category":{"Name":"Kitchen"}}"#)
        #expect(try await bazaar.names("\(id)/Texts?$orderby=Language", "Text") == ["Becher", "big mug", "tasse"])
        #expect(try await bazaar.entity("\(id)/Category")?["Name"] == "Kitchen")
        // A related entity without a key is the existing one.
        try await bazaar.send(.update, id, #"{"Category":{"Name":"Cuisine"}}"#)
        #expect(try await bazaar.names("Categories") == ["Cuisine"])
    }

    @Test("11.4.3.1 Update Related Entities When Updating an Entity: a nested delta")
    func nestedDelta() async throws {
        let bazaar = try await Bazaar()
        let mug = try await bazaar.create(
            "Products",
            #"{"Name":"Mug","Texts":[{"Language":"EN","Text":"mug"},{"Language":"DE","Text":"Becher"}],"Related":[{"Name":"Cup"}]}"#
        )
        let id = try #require(mug.control.id)
        let text = try #require(
            try await bazaar.page("\(id)/Texts?$filter=Language eq 'DE'").entities.first?.control.id)
        let cup = try #require(try await bazaar.page("\(id)/Related").entities.first?.control.id)
        try await bazaar.send(
            .update, id,
            """
            {"Texts@delta":[{"@removed":{"reason":"deleted"},"@id":"\(text)"},{"Language":"FR","Text":"tasse"}],
            "Related@delta":[{"@removed":{"reason":"changed"},"@id":"\(cup)"}]}
            """)
        #expect(try await bazaar.names("\(id)/Texts?$orderby=Language", "Text") == ["mug", "tasse"])
        #expect(try await bazaar.page("\(id)/Related").entities.isEmpty)
        #expect(try await bazaar.names("Products?$orderby=Name") == ["Cup", "Mug"])
    }

    @Test("11.4.5 Delete an Entity: cascade, set null, and 409 for a required relation")
    func referentialActions() async throws {
        let bazaar = try await Bazaar()
        let category = try await bazaar.create(
            "Categories", #"{"Name":"Kitchen","Products":[{"Name":"Mug","Texts":[{"Language":"EN"}]}]}"#)
        try await bazaar.send(.delete, try #require(category.control.id))
        let mug = try #require(try await bazaar.page("Products").entities.first)
        #expect(mug["CategoryID"] == .null)
        try await bazaar.send(.delete, try #require(mug.control.id))
        #expect(try await bazaar.page("Texts").entities.isEmpty)
        #expect(try await bazaar.refusal(.delete, "Categories(1)")?.status == 404)
    }

    @Test("11.4.6 $ref: links between entities in both forms, many to many")
    func references() async throws {
        let bazaar = try await Bazaar()
        let mug = try #require(try await bazaar.create("Products", #"{"Name":"Mug"}"#).control.id)
        let cup = try #require(try await bazaar.create("Products", #"{"Name":"Cup"}"#).control.id)
        let pot = try #require(try await bazaar.create("Products", #"{"Name":"Pot"}"#).control.id)
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        try await bazaar.send(.create, "\(mug)/Related/$ref", #"{"id":"\#(cup)"}"#)
        #expect(try await bazaar.names("\(mug)/Related") == ["Cup"])
        try await bazaar.send(.replace, "\(mug)/Related/$ref", #"{"value":["\#(pot)"]}"#)
        #expect(try await bazaar.names("\(mug)/Related") == ["Pot"])
        try await bazaar.send(.delete, "\(mug)/Related/$ref?$id=\(pot)")
        #expect(try await bazaar.names("\(mug)/Related") == [])
        try await bazaar.send(.replace, "\(mug)/Category/$ref", #"{"id":"Categories(1)"}"#)
        #expect(try await bazaar.names("Categories(1)/Products") == ["Mug"])
        try await bazaar.send(.create, "Categories(1)/Products/$ref", #"{"id":"\#(cup)"}"#)
        #expect(try await bazaar.names("Categories(1)/Products?$orderby=Name") == ["Cup", "Mug"])
        try await bazaar.send(.delete, "\(mug)/Category/$ref")
        #expect(try await bazaar.names("Categories(1)/Products") == ["Cup"])
    }

    @Test("11.4.9 Managing Values and Properties Directly")
    func properties() async throws {
        let bazaar = try await Bazaar()
        let id = try #require(
            try await bazaar.create("Products", #"{"Name":"Mug","Address":{"Street":"s","City":"c"}}"#).control.id)
        try await bazaar.send(.replace, "\(id)/Name", #"{"value":"Cup"}"#)
        try await bazaar.send(.create, "\(id)/Tags", #"{"value":"a"}"#)
        try await bazaar.send(.create, "\(id)/Tags", #"{"value":"b"}"#)
        #expect(try await bazaar.text("\(id)/Tags") == ["a", "b"])
        try await bazaar.send(.replace, "\(id)/Tags", #"{"value":["c"]}"#)
        #expect(try await bazaar.text("\(id)/Tags") == ["c"])
        try await bazaar.send(.delete, "\(id)/Tags")
        #expect(try await bazaar.text("\(id)/Tags") == [])
        try await bazaar.send(.update, "\(id)/Address", #"{"City":"d"}"#)
        #expect(try await bazaar.text("\(id)/Address/Street") == "s")
        try await bazaar.send(.replace, "\(id)/Address", #"{"City":"e"}"#)
        #expect(try await bazaar.send(.read, "\(id)/Address/Street").status == 204)
        try await bazaar.send(.delete, "\(id)/Address")
        #expect(try await bazaar.send(.read, "\(id)/Address").status == 204)
        #expect(try await bazaar.refusal(.delete, "\(id)/Name")?.status == 400)
        #expect(try await bazaar.text("\(id)/Name") == "Cup")
        #expect(try await bazaar.text("\(id)/Version") == 9)
    }

    @Test("11.4.2 contained collections and 11.4.4 contained single entities")
    func containment() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.create("Orders", #"{"Owner":"ann","Lines":[{"No":1,"Text":"a"}]}"#)
        let line = try await bazaar.create("Orders(1)/Lines", #"{"No":2,"Text":"b"}"#)
        #expect(line.control.id == "Orders(1)/Lines(2)")
        let taken = try await bazaar.refusal(.create, "Orders(1)/Lines", #"{"No":2,"Text":"b"}"#)
        #expect(taken?.status == 409 && taken?.message == "An entity with the same No exists already.")
        try await bazaar.send(.update, "Orders(1)/Lines(2)", #"{"Text":"c"}"#)
        #expect(try await bazaar.names("Orders(1)/Lines", "Text") == ["a", "c"])
        try await bazaar.send(.delete, "Orders(1)/Lines(1)")
        #expect(try await bazaar.names("Orders(1)/Lines", "Text") == ["c"])
        #expect(try await bazaar.send(.read, "Orders(1)/Invoice").status == 204)
        #expect(try await bazaar.send(.replace, "Orders(1)/Invoice", #"{"Number":5,"Paid":false}"#).status == 201)
        #expect(try await bazaar.send(.update, "Orders(1)/Invoice", #"{"Paid":true}"#).status == 204)
        #expect(try await bazaar.entity("Orders(1)/Invoice")?["Paid"] == true)
        try await bazaar.send(.delete, "Orders(1)/Invoice")
        #expect(try await bazaar.send(.read, "Orders(1)/Invoice").status == 204)
    }

    @Test("6.5 (CSDL) a single contained entity needs no key of its own")
    func keylessContainment() async throws {
        let bazaar = try await Bazaar(replacing: [
            #"<EntityType Name="Invoice"><Key><PropertyRef Name="Number"/></Key>"#: #"<EntityType Name="Invoice">"#
        ])
        for _ in 1...2 { try await bazaar.create("Orders", #"{"Owner":"ann"}"#) }
        let created = try await bazaar.send(.replace, "Orders(1)/Invoice", #"{"Number":5,"Paid":false}"#)
        #expect(created.status == 201 && created.location == "Orders(1)/Invoice")
        #expect(try await bazaar.send(.replace, "Orders(2)/Invoice", #"{"Number":6,"Paid":false}"#).status == 201)
        #expect(try await bazaar.send(.update, "Orders(1)/Invoice", #"{"Paid":true}"#).status == 204)
        let first = try #require(try await bazaar.entity("Orders(1)/Invoice"))
        #expect(first["Paid"] == true && first["Number"] == 5)
        #expect(try await bazaar.entity("Orders(2)/Invoice")?["Paid"] == false)
        #expect(try await bazaar.send(.replace, "Orders(1)/Invoice", #"{"Number":7}"#).status == 204)
        #expect(try await bazaar.entity("Orders(1)/Invoice")?["Number"] == 7)
        try await bazaar.send(.delete, "Orders(1)/Invoice")
        #expect(try await bazaar.send(.read, "Orders(1)/Invoice").status == 204)
        #expect(try await bazaar.entity("Orders(2)/Invoice")?["Number"] == 6)
        try await bazaar.create("Orders", #"{"Owner":"bob","Invoice":{"Number":8}}"#)
        #expect(try await bazaar.entity("Orders(3)/Invoice")?["Number"] == 8)
    }

    @Test("11.4.3 singletons and open types")
    func singletonsAndOpenTypes() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.service.seed(json: Array(#"{"Shop":{"ID":1,"Name":"a"}}"#.utf8))
        #expect(try await bazaar.send(.update, "Shop", #"{"Name":"b"}"#).etag == "W/\"2\"")
        #expect(try await bazaar.entity("Shop")?["Name"] == "b")
        try await bazaar.create("Notes", #"{"Color":"red","Size":3}"#)
        try await bazaar.send(.update, "Notes(1)", #"{"Color":null,"Shape":"round"}"#)
        let note = try #require(try await bazaar.entity("Notes(1)"))
        #expect(note.dynamicProperties == ["Size": 3, "Shape": "round"])
    }

    @Test("11.4.12 Update a Collection of Entities by a delta payload, with and without continue-on-error")
    func collections() async throws {
        let bazaar = try await Bazaar()
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        try await bazaar.create("Categories", #"{"Name":"Office"}"#)
        let delta = """
            [{"ID":1,"Name":"Cuisine"},{"Name":"Garden"},{"@removed":{"reason":"deleted"},"@id":"Categories(2)"}]
            """
        #expect(try await bazaar.send(.update, "Categories", delta).status == 204)
        #expect(try await bazaar.names("Categories?$orderby=Name") == ["Cuisine", "Garden"])
        let bad = #"[{"ID":1,"Name":"Best"},{"Name":"Garden"},{"Name":"Attic"}]"#
        #expect(try await bazaar.refusal(.update, "Categories", bad)?.status == 409)
        #expect(try await bazaar.names("Categories?$orderby=Name") == ["Cuisine", "Garden"])
        var preferences = Preferences()
        preferences.continueOnError = true
        let response = try await bazaar.send(.update, "Categories", bad, preferences: preferences)
        guard case .page(let page) = response.body else { throw ODataError.notFound("page") }
        #expect(page.entities.count == 1)
        #expect(page.entities[0].control.annotations["Org.OData.Core.V1.DataModificationException"] != nil)
        #expect(try await bazaar.names("Categories?$orderby=Name") == ["Attic", "Best", "Garden"])
        try await bazaar.send(.replace, "Categories", #"[{"ID":1,"Name":"Only"}]"#)
        #expect(try await bazaar.names("Categories") == ["Only"])
    }

    @Test("11.4.13 Replacing a collection with continue-on-error keeps a refused member unchanged")
    func replaceContinuesOnError() async throws {
        let bazaar = try await Bazaar()
        var preferences = Preferences()
        preferences.continueOnError = true
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        try await bazaar.create("Categories", #"{"Name":"Office"}"#)
        // The second category still has its name when the first one is renamed to it.
        let all = #"[{"ID":1,"Name":"Office"},{"Name":"Attic"}]"#
        let response = try await bazaar.send(.replace, "Categories", all, preferences: preferences)
        guard case .page(let page) = response.body else { throw ODataError.notFound("page") }
        // The response contains the whole collection; the refused member is unchanged and has an error annotation.
        #expect(page.entities.count == 2)
        #expect(
            page.entities.filter { $0.control.annotations["Org.OData.Core.V1.DataModificationException"] != nil }.count
                == 1)
        #expect(try await bazaar.names("Categories?$orderby=Name") == ["Attic", "Kitchen"])
        let mug = try #require(try await bazaar.create("Products", #"{"Name":"Mug","CategoryID":1}"#).control.id)
        try await bazaar.create("Products", #"{"Name":"Pot","CategoryID":1}"#)
        let related = #"[{"@id":"\#(mug)","Name":"A name of more than twenty characters"}]"#
        try await bazaar.send(.replace, "Categories(1)/Products", related, preferences: preferences)
        #expect(try await bazaar.names("Categories(1)/Products") == ["Mug"])
    }

    @Test("4.3 (URL) changes find keys like reads, for any offset of an instant")
    func instantKeys() async throws {
        let key = "<Key><PropertyRef Name=\"ID\"/></Key>\n<Property Name=\"ID\" Type="
        let bazaar = try await Bazaar(replacing: [
            "<EntityType Name=\"Note\" OpenType=\"true\">\(key)\"Edm.Int32\"":
                "<EntityType Name=\"Note\" OpenType=\"true\">\(key)\"Edm.DateTimeOffset\""
        ])
        try await bazaar.create("Notes", #"{"ID":"2026-01-01T10:00:00+02:00","Color":"red"}"#)
        let url = "Notes(2026-01-01T08:00:00Z)"
        #expect(try await bazaar.entity(url)?.dynamicProperties["Color"] == "red")
        try await bazaar.send(.update, url, #"{"Color":"blue"}"#)
        #expect(try await bazaar.page("Notes").entities.map { $0.dynamicProperties["Color"] } == ["blue"])
        #expect(try await bazaar.refusal(.create, "Notes", #"{"ID":"2026-01-01T08:00:00Z"}"#)?.status == 409)
        try await bazaar.send(.delete, url)
        #expect(try await bazaar.page("Notes").entities.isEmpty)
    }

    @Test("11.4.13 and 11.4.14 $each: all members of a filtered collection or none")
    func each() async throws {
        let bazaar = try await Bazaar()
        for (name, price) in [("a", 1), ("b", 2), ("c", 3)] {
            try await bazaar.create("Products", #"{"Name":"\#(name)","Price":\#(price)}"#)
        }
        var request = try bazaar.request(.update, "Products/$filter(@f)/$each?@f=Price gt 1")
        request.body = .entity(
            ODataEntity(shape: try #require(bazaar.service.model.shape(ofSet: "Products")), ["Price": .double(9)]))
        #expect(try await bazaar.service.execute(request).status == 204)
        #expect(try await bazaar.names("Products?$filter=Price eq 9&$orderby=Name") == ["b", "c"])
        try await bazaar.send(.delete, "Products/$filter(@f)/$each?@f=Price eq 9")
        #expect(try await bazaar.names("Products") == ["a"])
    }

    @Test("URL 4.12 $each: query options are evaluated after the change and select the returned members")
    func eachWithOptions() async throws {
        let bazaar = try await Bazaar()
        for (name, price) in [("a", 1), ("b", 2), ("c", 3)] {
            try await bazaar.create("Products", #"{"Name":"\#(name)","Price":\#(price)}"#)
        }
        func answer(_ url: String, _ values: [String: ODataValue], _ preferences: Preferences = Preferences())
            async throws
            -> [ODataValue?]?
        {
            var request = try bazaar.request(.update, url, preferences: preferences)
            request.body = .entity(
                ODataEntity(shape: try #require(bazaar.service.model.shape(ofSet: "Products")), values))
            guard case .page(let page) = try await bazaar.service.execute(request).body else { return nil }
            return page.entities.map { $0["Name"] }
        }
        // No member has the price before the change. All members get it, and the response contains those that match
        // afterwards.
        #expect(
            try await answer("Products/$each?$filter=Price eq 9&$orderby=Name desc", ["Price": .double(9)]) == [
                "c", "b", "a",
            ])
        #expect(try await answer("Products/$each?$filter=Price eq 1", ["Price": .double(5)]) == [])
        #expect(try await bazaar.names("Products?$filter=Price eq 5&$orderby=Name") == ["a", "b", "c"])
        #expect(try await answer("Products/$each?$top=0", ["Price": .double(6)]) == [])
        #expect(try await bazaar.names("Products?$filter=Price eq 6").count == 3)
        // The segment is evaluated before the change. The response contains its members even though they match no
        // longer.
        let segment = "Products/$filter(Name ne 'a')/$each?$orderby=Name&$skip=1&$top=1&$select=Name"
        #expect(try await answer(segment, ["Price": .double(7)]) == ["c"])
        #expect(try await bazaar.names("Products?$filter=Price eq 7&$orderby=Name") == ["b", "c"])
        #expect(try await answer("Products/$filter(Price eq 7)/$each?$count=true", ["Price": .double(8)])?.count == 2)
        #expect(
            try await answer("Products/$each?$filter=Price eq 2", ["Price": .double(2)], Preferences(returns: .minimal))
                == nil)
        #expect(try await bazaar.names("Products?$filter=Price eq 2").count == 3)
        // A deletion has no response that options could shape, and its options must not be mistaken for a selection
        // of members.
        #expect(try await bazaar.refusal(.delete, "Products/$each?$filter=Price eq 9")?.status == 400)
        #expect(try await bazaar.names("Products").count == 3)
    }

    @Test("11.7.4 change sets succeed or fail as a whole")
    func changeSets() async throws {
        let bazaar = try await Bazaar()
        let items = [
            BatchItem(
                id: "1", request: try bazaar.request(.create, "Categories", #"{"Name":"Kitchen"}"#), atomicityGroup: "g"
            ),
            BatchItem(
                id: "2",
                request: try bazaar.request(.create, "Products", #"{"Name":"Mug","Category@odata.bind":"$1"}"#),
                atomicityGroup: "g"),
        ]
        let request = ODataRequest(.create, try ODataURL(parsing: "$batch"), body: .batch(items))
        guard case .batch(let results) = try await bazaar.service.execute(request).body else {
            throw ODataError.notFound("batch")
        }
        #expect(results.map { (try? $0.result.get().status) ?? 0 } == [201, 201])
        #expect(try await bazaar.names("Categories(1)/Products") == ["Mug"])
        guard case .batch(let again) = try await bazaar.service.execute(request).body else {
            throw ODataError.notFound("batch")
        }
        #expect(again.allSatisfy { (try? $0.result.get()) == nil })
        #expect(try await bazaar.names("Products") == ["Mug"])
    }
}
