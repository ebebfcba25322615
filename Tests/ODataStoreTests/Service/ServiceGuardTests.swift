import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("A service on its own model: authorisation, interceptors, isolation, repeats")
struct ServiceGuardTests {
    private static let ann = Principal(name: "ann")
    private static let bob = Principal(name: "bob")

    private func guarded() async throws -> Bazaar {
        let bazaar = try await Bazaar { definition in
            definition.authorization = { principal, set in
                guard let principal else { return .none }
                if principal.roles.contains("admin") { return .full }
                switch set {
                case "Orders": return Access(rowFilter: "Owner eq '\(principal.name)'", hiding: ["Margin"])
                case "Products":
                    return Access(rowFilter: "Category/Name ne 'Secret' and Price lt 100")
                case "Categories": return .readOnly
                default: return .full
                }
            }
        }
        let rows = """
            {"Orders":[{"ID":1,"Owner":"ann","Margin":5,"Lines":[{"No":1,"Text":"a"}]},
            {"ID":2,"Owner":"bob","Margin":7,"Lines":[{"No":1,"Text":"b"}]}],
            "Categories":[{"ID":1,"Name":"Kitchen"},{"ID":2,"Name":"Secret"}],
            "Products":[{"Name":"Mug","CategoryID":1},{"Name":"Plan","CategoryID":2},
            {"Name":"Gold","CategoryID":1,"Price":500}]}
            """
        try await bazaar.service.seed(json: Array(rows.utf8))
        return bazaar
    }

    @Test("11.2 hidden rows appear in no collection, count, expand or condition")
    func rows() async throws {
        let bazaar = try await guarded()
        #expect(try await bazaar.page("Orders", principal: Self.ann).entities.map { $0["ID"] } == [1])
        #expect(try await bazaar.page("Orders?$count=true", principal: Self.bob).count == 1)
        #expect(try await bazaar.refusal(.read, "Orders(2)", principal: Self.ann)?.status == 404)
        #expect(try await bazaar.refusal(.read, "Orders(2)/Lines", principal: Self.ann)?.status == 404)
        #expect(try await bazaar.names("Products", principal: Self.ann) == ["Mug"])
        #expect(try await bazaar.names("Categories(1)/Products", principal: Self.ann) == ["Mug"])
        let categories = try await bazaar.page(
            "Categories?$expand=Products($count=true)&$orderby=ID", principal: Self.ann)
        let counts = categories.entities.map { category -> Int64? in
            if case .many(_, let count, _)? = category.related["Products"] { count } else { nil }
        }
        #expect(counts == [1, 0])
        let by = try await bazaar.names("Categories?$filter=Products/any(p:p/Price gt 100)", principal: Self.ann)
        #expect(by == [])
        #expect(try await bazaar.names("Categories?$filter=Products/$count gt 1", principal: Self.ann) == [])
        let admin = Principal(name: "root", roles: ["admin"])
        #expect(try await bazaar.page("Orders", principal: admin).entities.count == 2)
    }

    @Test("9.3.2 and 9.3.3: 401 for an unknown caller, 403 for one without permission")
    func refusals() async throws {
        let bazaar = try await guarded()
        #expect(try await bazaar.refusal(.read, "Orders")?.status == 401)
        #expect(try await bazaar.refusal(.create, "Categories", #"{"Name":"x"}"#, principal: Self.ann)?.status == 403)
        #expect(try await bazaar.refusal(.delete, "Orders(2)", principal: Self.ann)?.status == 404)
        #expect(try await bazaar.refusal(.update, "Orders(2)", #"{"Owner":"ann"}"#, principal: Self.ann)?.status == 404)
        for (method, url) in [
            (ODataRequest.Method.update, "Orders(2)/Lines(1)"), (.delete, "Orders(2)/Lines(1)"),
            (.create, "Orders(2)/Lines"), (.replace, "Orders(2)/Invoice"),
        ] {
            let body = method == .delete ? nil : #"{"Text":"x"}"#
            #expect(
                try await bazaar.refusal(
                    method, url, url.hasSuffix("Invoice") ? "{}" : body, principal: Self.ann)?.status == 404,
                "\(method) \(url)")
        }
        let tracked = try await bazaar.send(
            .read, "Orders", preferences: Preferences(trackChanges: true), principal: Self.ann)
        #expect(!tracked.preferencesApplied.contains("track-changes"))
        let away = try await bazaar.refusal(.update, "Orders(1)", #"{"Owner":"bob"}"#, principal: Self.ann)
        #expect(away?.status == 403)
        let alien = try await bazaar.refusal(.create, "Orders", #"{"Owner":"bob"}"#, principal: Self.ann)
        #expect(alien?.status == 403)
        let admin = Principal(name: "root", roles: ["admin"])
        #expect(try await bazaar.entity("Orders(1)", principal: admin)?["Owner"] == "ann")
        try await bazaar.send(.delete, "Orders/$filter(@f)/$each?@f=ID gt 0", principal: Self.ann)
        #expect(try await bazaar.page("Orders", principal: admin).entities.map { $0["ID"] } == [2])
    }

    @Test("Hidden properties cannot be read, changed, or used in conditions, orders and paths")
    func properties() async throws {
        let bazaar = try await guarded()
        let order = try #require(try await bazaar.entity("Orders(1)", principal: Self.ann))
        #expect(order["Margin"] == nil)
        #expect(order["Owner"] == "ann")
        for url in ["Orders?$filter=Margin gt 1", "Orders?$orderby=Margin", "Orders(1)/Margin"] {
            #expect(try await bazaar.refusal(.read, url, principal: Self.ann)?.status == 403, "\(url)")
        }
        for (method, url, body) in [
            (ODataRequest.Method.update, "Orders(1)", #"{"Margin":9}"#), (.create, "Orders", #"{"ID":9,"Margin":9}"#),
            // An update that creates the entity also sets its key.
            (.update, "Orders(9)", #"{"Owner":"ann","Margin":9}"#),
            (.replace, "Orders(9)", #"{"Owner":"ann","Margin":9}"#),
        ] {
            #expect(try await bazaar.refusal(method, url, body, principal: Self.ann)?.status == 403, "\(method) \(url)")
        }
        var preferences = Preferences()
        preferences.returns = .representation
        let response = try await bazaar.send(
            .update, "Orders(1)", "{}", preferences: preferences, principal: Self.ann)
        guard case .entity(let returned) = response.body else { throw ODataError.notFound("entity") }
        #expect(returned["Margin"] == nil)
    }

    @Test(
        "Hidden properties are not revealed by expands, lambdas, casts, streams or aggregations",
        arguments: [
            "Orders?$expand=Lines($compute=$it/Margin as M;$select=No,M)",
            "Orders?$expand=Lines($filter=$it/Margin gt 1)", "Orders?$expand=Lines($orderby=$it/Margin)",
            "Categories?$filter=$root/Orders/any(o:o/Margin gt 1)", "Categories?$filter=$root/Orders(1)/Margin gt 1",
            "Categories?$filter=$root/Orders/$filter(Margin gt 1)/$count gt 0",
            "Categories?$filter=$root/Orders/$count($filter=Margin gt 1) gt 0",
            "Orders?$filter=Lines/any(l:$it/Margin gt 1)", "Orders?$apply=aggregate(Margin with sum as S)",
            "Categories?$apply=compute($root/Orders(1)/Margin as M)",
            "Categories?$apply=filter($root/Orders/any(o:o/Margin gt 1))",
            "Categories?$filter=$root/Orders/aggregate(Margin with sum) gt 1",
            "Orders/$filter(@f)?@f=Margin gt 1", "Orders?$select=Margin&$filter=contains(Owner,'a') or Margin gt 1",
        ])
    func probes(url: String) async throws {
        let bazaar = try await guarded()
        #expect(try await bazaar.refusal(.read, url, principal: Self.ann)?.status == 403, "\(url)")
    }

    @Test("References do not reveal a hidden foreign key or change a hidden relation")
    func hiddenBesideReferences() async throws {
        let bazaar = try await Bazaar { definition in
            definition.authorization = { principal, set in
                set == "Products" && principal != nil ? Access(hiding: ["Price", "Related"]) : .full
            }
        }
        try await bazaar.create("Categories", #"{"ID":1,"Name":"Kitchen"}"#)
        let id = try #require(try await bazaar.create("Products", #"{"Name":"Mug"}"#).control.id)
        let bodies = [
            #"{"Name":"x","Price":99,"Category@odata.bind":"Categories(1)"}"#,
            #"{"Name":"x","Related":[{"Name":"y"}]}"#, #"{"Name":"x","Related@odata.bind":["\#(id)"]}"#,
        ]
        for body in bodies {
            #expect(try await bazaar.refusal(.create, "Products", body, principal: Self.ann)?.status == 403, "\(body)")
            #expect(try await bazaar.refusal(.update, id, body, principal: Self.ann)?.status == 403, "\(body)")
        }
        try await bazaar.send(
            .update, id, #"{"Name":"Cup","Category@odata.bind":"Categories(1)"}"#, principal: Self.ann)
        #expect(try await bazaar.entity(id)?["Price"] == .double(1))
        #expect(try await bazaar.page("Products").entities.count == 1)
    }

    @Test("A hidden contained entity cannot be used for operations and streams")
    func containedInHidden() async throws {
        let line = QualifiedName("Bazaar", "Line")
        let bazaar = try await Bazaar(replacing: [
            #"<EntityType Name="Line"><Key>"#: #"<EntityType Name="Line" HasStream="true"><Key>"#
        ]) { definition in
            definition.authorization = { principal, set in
                guard set == "Orders", let principal else { return .full }
                return Access(rowFilter: "Owner eq '\(principal.name)'")
            }
            try definition.action("Act", on: .collection(line)) { _ in .none }
            try definition.function("Count", on: .collection(line), returns: .primitive(.int32)) { _ in
                .value(.integer(1))
            }
        }
        let rows = """
            {"Orders":[{"ID":1,"Owner":"ann","Lines":[{"No":1}]},{"ID":2,"Owner":"bob","Lines":[{"No":1}]}]}
            """
        try await bazaar.service.seed(json: Array(rows.utf8))
        for (method, path, body) in [
            (ODataRequest.Method.create, "Lines/Bazaar.Act", "{}"), (.read, "Lines/Bazaar.Count()", nil),
            (.read, "Lines(1)/$value", nil),
        ] as [(ODataRequest.Method, String, String?)] {
            let own = try await bazaar.refusal(method, "Orders(1)/\(path)", body, principal: Self.ann)
            #expect(own == nil, "\(path)")
            let other = try await bazaar.refusal(method, "Orders(2)/\(path)", body, principal: Self.ann)
            #expect(other?.status == 404, "\(path)")
        }
    }

    @Test("A hidden entity cannot be related")
    func hiddenReferences() async throws {
        let bazaar = try await Bazaar { definition in
            definition.authorization = { principal, set in
                guard principal != nil else { return .full }
                switch set {
                case "Products": return Access(rowFilter: "Name ne 'Plan'")
                case "Categories": return Access(rowFilter: "Name ne 'Secret'")
                default: return .full
                }
            }
        }
        try await bazaar.create("Categories", #"{"ID":1,"Name":"Secret"}"#)
        let plan = try #require(try await bazaar.create("Products", #"{"Name":"Plan"}"#).control.id)
        let mug = try #require(
            try await bazaar.create("Products", #"{"Name":"Mug","Related@odata.bind":["\#(plan)"]}"#).control.id)
        var preferences = Preferences()
        preferences.returns = .representation
        for body in [
            #"{"Category@odata.bind":"Categories(1)"}"#, #"{"Category":{"@id":"Categories(1)"}}"#,
            #"{"Related":[{"@id":"\#(plan)"}]}"#,
        ] {
            let refused = try await bazaar.refusal(
                .update, mug, body, preferences: preferences, principal: Self.ann)
            #expect(refused?.code == "InvalidReference", "\(body)")
        }
        #expect(try await bazaar.refusal(.update, mug, #"{"Category@odata.bind":"Categories(9)"}"#)?.status == 400)
        try await bazaar.send(.update, mug, #"{"Category@odata.bind":"Categories(1)"}"#)
    }

    @Test("Hidden rows of one set do not hide rows of another")
    func notHidden() async throws {
        let bazaar = try await guarded()
        for url in [
            "Categories?$apply=aggregate(ID with sum as S)", "Categories?$apply=compute(ID add 1 as N)/orderby(N)",
            "Categories?$filter=$root/Orders/any(o:o/Owner eq 'ann')", "Orders?$expand=Lines($filter=$it/ID eq 1)",
            "Categories?$expand=Products($apply=aggregate(Price with sum as S))",
        ] {
            #expect(try await bazaar.refusal(.read, url, principal: Self.ann) == nil, "\(url)")
        }
    }

    @Test("Interceptors complete and refuse changes in their transaction")
    func interceptors() async throws {
        let bazaar = try await Bazaar { definition in
            definition.before(.insert, "Categories") { category, _ in
                if category["Name"] == "bad" {
                    throw ODataError(status: 400, code: "Bad", message: "No such name.", target: "Name")
                }
            }
            definition.before(.update, "Products") { patch, context in
                if context.before?["Name"] == "Mug" { patch["Price"] = .double(42) }
            }
            definition.after(.delete, "Categories") { category, context in
                try context.transaction.create(
                    context.transaction.newEntity(in: "Notes", ["Deleted": category["Name"] ?? .null]), in: "Notes")
            }
            definition.beforeRequest { request in
                if request.headers["X-Closed"] != nil {
                    throw ODataError(status: 503, code: "Closed", message: "Closed.")
                }
            }
            definition.afterRequest { _, response in response.headers["X-Seen"] = "yes" }
        }
        #expect(try await bazaar.refusal(.create, "Categories", #"{"Name":"bad"}"#)?.target == "Name")
        let id = try #require(try await bazaar.create("Products", #"{"Name":"Mug"}"#).control.id)
        try await bazaar.send(.update, id, #"{"Tags":["x"]}"#)
        #expect(try await bazaar.entity(id)?["Price"] == .double(42))
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        try await bazaar.send(.delete, "Categories(1)")
        #expect(try await bazaar.names("Notes", "Deleted") == ["Kitchen"])
        var request = try bazaar.request(.read, "Products")
        #expect(try await bazaar.service.execute(request).headers["X-Seen"] == "yes")
        request.headers["X-Closed"] = "1"
        let closed = request
        await #expect(throws: ODataError.self) { try await bazaar.service.execute(closed) }
    }

    @Test("8.2.6 OData-Isolation: snapshot keeps the data of the first page, and 410 ends it")
    func isolation() async throws {
        let bazaar = try await Bazaar()
        let rows = (1...250).map { #"{"ID":\#($0),"Name":"n\#($0)"}"# }.joined(separator: ",")
        try await bazaar.service.seed(json: Array(#"{"Categories":[\#(rows)]}"#.utf8))
        var request = try bazaar.request(
            .read, "Categories?$orderby=ID&$count=true&$expand=Products", preferences: Preferences(maxPageSize: 120))
        request.isolation = .snapshot
        request.format = ResponseFormat(serviceRoot: "http://s/")
        var seen = 0
        var pages = 0
        var next: String?
        repeat {
            let response = try await bazaar.service.execute(request)
            guard case .encoded(let stream, _) = response.body else { throw ODataError.notFound("page") }
            let text = String(decoding: try await stream.collect(limit: 1 << 24), as: UTF8.self)
            let value = try ODataValue(json: Array(text.utf8), type: .complex(nil), model: bazaar.service.model)
            guard case .complex(let page) = value, case .collection(let items)? = page.dynamicProperties["value"] else {
                throw ODataError.notFound("value")
            }
            #expect(text.contains("\"@count\":250"))
            #expect(text.contains("$metadata#Categories"))
            seen += items.count
            pages += 1
            for case .complex(let item) in items { #expect(item.dynamicProperties["Name"] != "changed") }
            if pages == 1 {
                try await bazaar.send(.delete, "Categories(200)")
                try await bazaar.send(.update, "Categories(201)", #"{"Name":"changed"}"#)
            }
            next = text.range(of: "\"@nextLink\":\"").map { range in
                String(text[range.upperBound...].prefix { $0 != "\"" })
            }
            if let next {
                request = ODataRequest(
                    following: next, preferences: Preferences(maxPageSize: 120), format: request.format)
            }
        } while next != nil
        #expect(pages == 3)
        #expect(seen == 250)
        bazaar.clock.advance(by: 1000)
        let late = request
        do {
            _ = try await bazaar.service.execute(late)
            Issue.record("an old snapshot was still there")
        } catch let error as ODataError {
            #expect(error.status == 410)
        }
    }

    @Test("A stored result has further pages only for its own caller")
    func keptResultsPage() async throws {
        let bazaar = try await guarded()
        func page(_ url: String, _ principal: Principal) async throws -> EntityPage {
            var request = ODataRequest(following: url, preferences: Preferences(maxPageSize: 1))
            request.context.principal = principal
            guard case .page(let page) = try await bazaar.service.execute(request).body else {
                throw ODataError.notFound("page")
            }
            return page
        }
        let first = try await page("Categories?$apply=concat(filter(ID gt 0),aggregate($count as N))", Self.ann)
        #expect(first.entities.map { $0["ID"] } == [1])
        let link = try #require(first.nextLink)
        let second = try await page(link, Self.ann)
        #expect(second.entities.map { $0["ID"] } == [2])
        #expect(
            try await page(try #require(second.nextLink), Self.ann).entities.map { $0["N"] }
                == [.decimal(ODataDecimal(2))])
        let error = await #expect(throws: ODataError.self) { _ = try await page(link, Self.bob) }
        #expect(error?.status == 410)
    }

    @Test(
        "8.2.6 A snapshot page has the usual form",
        arguments: [ResponseFormat.Metadata.minimal, .full, .none])
    func snapshotIsAsPlain(metadata: ResponseFormat.Metadata) async throws {
        let bazaar = try await Bazaar(replacing: [
            #"MaxLength="20"/></ComplexType>"#:
                #"MaxLength="20"/><NavigationProperty Name="Near" Type="Collection(Bazaar.Category)"/></ComplexType>"#,
            #"<Property Name="Margin" Type="Edm.Int32"/>"#: #"<Property Name="Home" Type="Bazaar.Address"/>"#,
            #"<EntitySet Name="Orders" EntityType="Bazaar.Order"/>"#:
                #"<EntitySet Name="Orders" EntityType="Bazaar.Order"><NavigationPropertyBinding Path="Home/Near" "#
                + #"Target="Categories"/></EntitySet>"#,
        ])
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        try await bazaar.create("Orders", #"{"Owner":"ann","Home":{"Street":"s"}}"#)
        try await bazaar.create("Orders", #"{"Owner":"bob","Lines":[{"No":1,"Text":"a"}]}"#)
        try await bazaar.relate("Orders", "Home/Near", 1, to: 1)
        for url in ["Orders", "Orders?$expand=Home/Near,Lines&$orderby=ID"] {
            var request = try bazaar.request(.read, url)
            request.format = ResponseFormat(metadata: metadata, serviceRoot: "http://s/")
            var texts: [String] = []
            for isolation in [nil, ODataRequest.Isolation.snapshot] {
                request.isolation = isolation
                guard case .encoded(let stream, _) = try await bazaar.service.execute(request).body else {
                    throw ODataError.notFound("page")
                }
                texts.append(String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self))
            }
            #expect(texts[0] == texts[1])
            #expect(texts[0].contains("Kitchen") == (url != "Orders"))
        }
    }

    @Test("Repeatable requests act once and get the same response")
    func repeats() async throws {
        let bazaar = try await Bazaar()
        var request = try bazaar.request(.create, "Products", #"{"Name":"Mug"}"#)
        request.repeatability = Repeatability(requestID: "r-1", firstSent: "Fri, 15 Jan 2027 07:00:00 GMT")
        let first = try await bazaar.service.execute(request)
        let second = try await bazaar.service.execute(request)
        #expect(first.status == 201 && second.status == 201)
        #expect(first.location == second.location)
        #expect(second.repeatabilityResult == .accepted)
        #expect(try await bazaar.names("Products") == ["Mug"])
        let id = try #require(first.location)
        var other = try bazaar.request(.delete, id)
        other.repeatability = request.repeatability
        let stolen = other
        await #expect(throws: ODataError.self) { try await bazaar.service.execute(stolen) }
        bazaar.clock.advance(by: 51 * 86_400)
        let late = request
        do {
            _ = try await bazaar.service.execute(late)
            Issue.record("a request of 51 days ago was taken")
        } catch let error as ODataError {
            #expect(error.status == 412)
            #expect(error.repeatabilityResult == .rejected)
        }
    }
}
