import ODataModel
import Testing

@testable import ODataFormat

/// Payloads that the corpus lacks: valid special cases, and payloads of services that violate the standard.
@Suite("Payloads in the forms of services")
struct RealWorldPayloadTests {
    private let model: EntityDataModel
    private let order = QualifiedName("S", "Order")

    init() throws {
        model = try CSDLReader.read(
            Array(
                """
                <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EntityType Name="Order" OpenType="true"><Key><PropertyRef Name="Id"/></Key>
                  <Property Name="Id" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
                  <Property Name="Price" Type="Edm.Decimal" Scale="floating" Precision="34"/><Property Name="Ship" Type="S.Address"/>
                  <Property Name="Tags" Type="Collection(Edm.String)"/><Property Name="Any" Type="Edm.Untyped"/>
                  <Property Name="Level" Type="S.Level"/>
                  <NavigationProperty Name="Customer" Type="S.Customer"/><NavigationProperty Name="Items" Type="Collection(S.Item)" ContainsTarget="true"/></EntityType>
                <EntityType Name="Rush" BaseType="S.Order"><Property Name="Due" Type="Edm.DateTimeOffset"/></EntityType>
                <EntityType Name="Customer"><Key><PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.String"/></EntityType>
                <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/></EntityType>
                <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
                <ComplexType Name="Abroad" BaseType="S.Address"><Property Name="Land" Type="Edm.String"/></ComplexType>
                <EnumType Name="Level" IsFlags="true"><Member Name="Low" Value="1"/><Member Name="High" Value="2"/></EnumType>
                <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="S.Order"/><EntitySet Name="Customers" EntityType="S.Customer"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }

    private func read(_ json: String, _ strictness: Strictness = .lenient) throws -> ODataEntity {
        try EntityPayloadReader(model: model, strictness: strictness).read(Array(json.utf8), type: order).entity
    }

    private func elements(_ json: String) throws -> [CollectionPayloadReader.Element] {
        var reader = CollectionPayloadReader(model: model, type: order)
        var elements: [CollectionPayloadReader.Element] = []
        // The text arrives byte by byte, because the boundaries of chunks must not matter.
        for byte in json.utf8 {
            reader.append(CollectionOfOne(byte))
            while let element = try reader.next() { elements.append(element) }
        }
        reader.finish()
        while let element = try reader.next() { elements.append(element) }
        return elements
    }

    @Test("JSON 4.6.3: the position of a type and the spelling of control information do not matter")
    func typeOrder() throws {
        let forms = [
            ##"{"@odata.type":"#S.Rush","Id":1,"Due":"2026-11-21T10:00:00Z","Name":"a"}"##,
            ##"{"Id":1,"Due":"2026-11-21T10:00:00Z","@odata.type":"#S.Rush","Name":"a"}"##,
            ##"{"Name":"a","Id":1,"Due":"2026-11-21T10:00:00Z","@type":"http://x/$metadata#S.Rush"}"##,
        ]
        let first = try read(forms[0])
        #expect(first.shape.name == QualifiedName("S", "Rush") && first["Due"] != nil)
        for form in forms {
            let entity = try read(form)
            #expect(entity == first, "\(form)")
            #expect(entity.changedProperties.isEmpty, "what is read has not been changed")
        }
    }

    @Test("JSON 7: properties of derived complex types, of open types, and of none")
    func values() throws {
        let entity = try read(
            ##"{"Id":1,"Ship":{"@type":"#S.Abroad","City":"Rome","Land":"IT"},"Any":{"a":[1,{"b":null}]},"Level":"Low,High","Price":"INF","Extra@type":"#Duration","Extra":"PT1H","List@odata.type":"#Collection(Int64)","List":["1",2],"Nested":{"x":{"y":true}}}"##
        )
        guard case .complex(let ship)? = entity["Ship"] else {
            Issue.record("no address")
            return
        }
        #expect(ship.shape.name == QualifiedName("S", "Abroad") && ship["Land"] == "IT")
        #expect(entity["Level"] == .enumeration(3) && entity["Price"] == .double(.infinity))
        #expect(entity["Extra"] == .duration(ODataDuration(seconds: 3600)))
        #expect(entity["List"] == .collection([1, 2]))
        #expect(entity["Nested"] != nil && entity["Any"] != nil)
        #expect(try read(#"{"Id":1,"Level":3}"#)["Level"] == .enumeration(3))
    }

    @Test("JSON 8.5 and 15: bindings, expanded entities, counts, next links and nested deltas")
    func related() throws {
        let entity = try read(
            ##"{"Id":1,"Customer@odata.bind":"Customers('A')","Items@count":7,"Items":[{"No":1},{"@id":"Orders(1)/Items(2)"}],"Items@nextLink":"more"}"##
        )
        #expect(entity.related["Customer"] == .references(["Customers('A')"]))
        guard case .many(let items, let count, let next)? = entity.related["Items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.count == 2 && count == 7 && next == "more" && items[1].control.id == "Orders(1)/Items(2)")
        let delta = try read(
            ##"{"Id":1,"Items@delta":[{"@removed":{"reason":"deleted"},"No":1},{"No":2,"Text":"new"}]}"##)
        guard case .many(let changes, _, _)? = delta.related["Items"] else {
            Issue.record("no changes")
            return
        }
        #expect(changes[0].control.removedReason == "deleted" && changes[1]["Text"] == "new")
    }

    @Test("JSON 15: a delta with entities of other sets, removed ones in both spellings, links, and an error within")
    func delta() throws {
        let elements = try elements(
            ##"{"@odata.context":"http://x/$metadata#Orders/$delta","value":[{"Id":1},{"@odata.context":"#Customers/$entity","Id":"A"},{"@removed":{"reason":"changed"},"@id":"Orders(2)"},{"@odata.removed":{},"Id":3},{"@odata.context":"#Orders/$deletedEntity","id":"Orders(4)","reason":"deleted"},{"@odata.context":"#Orders/$link","source":"Orders(1)","relationship":"Customer","target":"Customers('A')"},{"@context":"#Orders/$deletedLink","source":"Orders(1)","relationship":"Customer","target":"Customers('B')"},{"@odata.context":"http://x/$metadata#Orders(1)/Items/$entity","No":5,"Text":"t"}],"@odata.deltaLink":"d"}"##
        )
        #expect(elements.count == 9)
        guard case .entity(let customer) = elements[1], case .removed(let id, _, let reason) = elements[4],
            case .link(let link) = elements[5], case .deletedLink = elements[6], case .entity(let item) = elements[7],
            case .finished(let summary) = elements[8]
        else {
            Issue.record("\(elements)")
            return
        }
        #expect(customer.shape.name == QualifiedName("S", "Customer"))
        #expect(item.shape.name == QualifiedName("S", "Item") && item["Text"] == "t")
        #expect(id == "Orders(4)" && reason == "deleted" && link.target == "Customers('A')" && summary.deltaLink == "d")
        let error = #expect(throws: PayloadError.self) {
            try self.elements(#"{"value":[{"Id":1}],"error":{"code":"late","message":"no more"}}"#)
        }
        guard case .service(let late)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(late.code == "late")
    }

    @Test(
        "a body that is no payload is refused with its place",
        arguments: [
            #"{"Id":1"#, #"{"Id":"x"}"#, #"{"Id":1,}"#, #"{"Id":2147483648}"#, "[]", "1", "", #"{"Ship":1}"#,
            #"{"Tags":"a"}"#, #"{"Tags":[1]}"#, #"{"Level":"None"}"#, #"{"Items":{}}"#, #"{"Customer":[]}"#,
            ##"{"Extra@type":"#Guid","Extra":"no"}"##, #"{"Price":"infinite"}"#, "{\"Name\":\"\u{1}\"}",
            #"{"Id":1}{"Id":2}"#, "<entry/>",
        ])
    func refused(json: String) throws {
        for strictness in [Strictness.lenient, .strict] {
            let error = #expect(throws: PayloadError.self, "\(json)") { try read(json, strictness) }
            guard case .malformed(let malformed)? = error else {
                Issue.record("\(json): \(String(describing: error))")
                return
            }
            #expect(malformed.position.line >= 1 && !malformed.expected.isEmpty)
        }
    }
}
