import ODataModel
import Testing

@testable import ODataFormat

@Suite("Atom entries")
struct AtomEntryTests {
    private let model: EntityDataModel
    private let room = LegacyService.room

    init() throws { model = try LegacyService.model() }

    static let namespaces = """
        xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" \
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
        """
    static let scheme = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"
    static let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related"

    private let full = """
        <?xml version="1.0" encoding="utf-8"?>
        <entry \(namespaces) xml:base="http://host/svc/" m:etag="W/&quot;1&quot;">
          <id>http://host/svc/Rooms('1')</id><title type="text">Blue &amp; white</title>
          <updated>2013-04-19T10:58:03Z</updated><author><name>Ann</name></author>
          <category term="Ref.Room" scheme="\(scheme)"/>
          <link rel="edit" href="Rooms('1')" title="Room"/>
          <link rel="\(related)/Building" href="Rooms('1')/Building" type="application/atom+xml;type=entry">
            <m:inline><entry><id>Buildings('7')</id><content type="application/xml"><m:properties>
            <d:Id>7</d:Id></m:properties></content></entry></m:inline></link>
          <link rel="\(related)/Desks" href="Rooms('1')/Desks" type="application/atom+xml;type=feed"><m:inline><feed>
            <m:count>9</m:count><entry><content type="application/xml"><m:properties><d:No>1</d:No></m:properties></content>
            </entry><link rel="next" href="Desks?$skip=1"/></feed></m:inline></link>
          <link xmlns:sap="http://www.sap.com/Protocols/SAPData" rel="http://x/act" href="Book?Id='{Id}'" title="Book" sap:http-method="POST"/>
          <content type="application/xml"><m:properties>
            <d:Id xml:space="preserve"> 1 </d:Id><d:Seats m:type="Edm.Int64">9007199254740993</d:Seats>
            <d:Price m:type="Edm.Decimal"> 2.5 </d:Price><d:Area m:type="Edm.Double">INF</d:Area>
            <d:Built m:type="Edm.DateTime">1999-01-01T00:00:00Z</d:Built><d:Opens m:type="Edm.Time">PT8H</d:Opens>
            <d:Plan m:type="Edm.Binary">+/8=</d:Plan><d:Code m:null="true"/>
            <d:Site m:type="Ref.Site"><d:City>Rome</d:City><d:Spot><d:Row>3</d:Row></d:Spot></d:Site>
          </m:properties></content>
        </entry>
        """

    private func read(_ text: String, _ strictness: Strictness = .strict) throws(PayloadError) -> ODataEntity {
        try AtomEntryReader(model: model, strictness: strictness).read(Array(text.utf8), type: room).entity
    }

    @Test("control information, values, links and inlined entries and feeds are read")
    func entry() throws {
        let entity = try read(full)
        #expect(entity.control.id == "http://host/svc/Rooms('1')" && entity.control.etag == "W/\"1\"")
        #expect(entity.control.editLink == nil, "the same as the id")
        #expect(entity["Id"] == " 1 ")
        #expect(entity["Seats"] == 9_007_199_254_740_993)
        #expect(entity["Area"] == .double(.infinity))
        #expect(entity["Built"] == .dateTime(try #require(ODataDateTime("1999-01-01T00:00:00"))))
        #expect(entity["Plan"] == .binary([0xFB, 0xFF]) && entity["Code"] == .null)
        #expect(entity["Name"] == "Blue & white", "mapped to the title")
        guard case .one(let building)? = entity.related["Building"],
            case .many(let desks, 9, "http://host/svc/Desks?$skip=1")? = entity.related["Desks"]
        else {
            Issue.record("\(entity.related)")
            return
        }
        #expect(building["Id"] == "7" && building.control.id == "http://host/svc/Buildings('7')")
        #expect(desks.map { $0["No"] } == [1])
        let link = try #require(entity.atomLinks.first)
        #expect(link.httpMethod == "POST" && link.url == "http://host/svc/Book?Id='{Id}'")
        #expect(link.url(with: ["Id": "a'b", "x": "1"]) == "http://host/svc/Book?Id='a%27b'&x=1")
    }

    @Test("an Atom entry that is read and written again means the same", arguments: [ODataVersion.v2, .v3, .v4])
    func roundTrip(version: ODataVersion) throws {
        let entity = try read(full)
        let text = AtomEntryWriter(model: model, version: version).document(entity)
        let again = try read(String(decoding: text, as: UTF8.self))
        #expect(again == entity)
        #expect(again.control == entity.control)
    }

    @Test("a mapped property stands only in its mapped place, and null stays in the content")
    func mapping() throws {
        var entity = try read(full)
        var text = String(decoding: AtomEntryWriter(model: model).document(entity), as: UTF8.self)
        #expect(text.contains("<title type=\"text\">Blue &amp; white</title>") && !text.contains("<d:Name"))
        entity["Name"] = .null
        text = String(decoding: AtomEntryWriter(model: model).document(entity), as: UTF8.self)
        #expect(text.contains("<d:Name m:null=\"true\"></d:Name>"))
        #expect(try read(text)["Name"] == .null)
    }

    @Test("empty inline content is null or an empty feed")
    func emptyInline() throws {
        let entity = try read(
            """
            <entry \(Self.namespaces)><link rel="\(Self.related)/Building"><m:inline/></link>
            <link rel="\(Self.related)/Desks"><m:inline/></link></entry>
            """)
        #expect(entity.related["Building"] == RelatedEntities.none && entity.related["Desks"] == .many([]))
    }

    @Test("media link entries have the links and type of their stream, and properties beside the content")
    func media() throws {
        let text = """
            <entry \(Self.namespaces)><category term="Ref.Hall" scheme="\(Self.scheme)"/><id>Halls('1')</id>
            <link rel="edit-media" href="Halls('1')/$value" type="image/png" m:etag="e"/>
            <content type="image/png" src="s.png"/><m:properties><d:Id>1</d:Id><d:Stage m:type="Edm.Boolean">true</d:Stage>
            </m:properties></entry>
            """
        let entity = try read(text)
        #expect(entity.shape.name.name == "Hall" && entity["Stage"] == true)
        #expect(entity.control.mediaReadLink == "s.png" && entity.control.mediaContentType == "image/png")
        #expect(entity.control.mediaEtag == "e")
        #expect(entity.control.annotations["odata.mediaEditLink"] == "Halls('1')/$value")
        let again = try read(String(decoding: AtomEntryWriter(model: model).document(entity), as: UTF8.self))
        #expect(again == entity && again.control.mediaReadLink == "s.png" && again.control.mediaEtag == "e")
        #expect(again.control.annotations["odata.mediaEditLink"] == "Halls('1')/$value")
    }

    @Test("creations may contain inline entries, and updates contain no inline entries and no links")
    func requests() throws {
        var entity = try read(full)
        entity.related["Building"] = .references(["Buildings('7')"])
        func text(_ purpose: AtomEntryWriter.Purpose, _ includesRelated: Bool = true) -> String {
            let writer = AtomEntryWriter(model: model, purpose: purpose, includesRelated: includesRelated)
            return String(decoding: writer.document(entity), as: UTF8.self)
        }
        let create = text(.create)
        #expect(
            create.contains("<d:No") && create.contains("href=\"Buildings('7')\"") && !create.contains("rel=\"edit\""))
        #expect(!create.contains("<id>http://host") && !create.contains("m:etag"))
        #expect(try read(create).related["Building"] == .references(["Buildings('7')"]))
        #expect(!text(.create, false).contains("m:inline"))
        let update = text(.update)
        #expect(!update.contains("m:inline") && update.contains("<id>http://host/svc/Rooms('1')</id>"))
    }

    @Test("an empty entry is created for its set, and complex values are set by path")
    func compose() throws {
        var entity = try #require(ODataEntity(ofSet: "Rooms", model: model))
        #expect(entity.values.allSatisfy { $0 == nil })
        try entity.set("Rome", at: "Site/City", model: model)
        try entity.set(4, at: "Site/Spot/Row", model: model)
        let text = String(decoding: AtomEntryWriter(model: model, purpose: .create).document(entity), as: UTF8.self)
        #expect(try read(text)["Site"] == entity["Site"])
        #expect(throws: EntityError.self) { try entity.set(1, at: "Site/Nowhere", model: model) }
        #expect(throws: EntityError.self) { try entity.set(1, at: "Id/x", model: model) }
        #expect(ODataEntity(ofSet: "Nothing", model: model) == nil)
    }

    @Test(
        "invalid documents are refused with the place and the expected content",
        arguments: [
            ("<entry xmlns=\"http://www.w3.org/2005/Atom\">", .truncated, ""),
            ("<feed xmlns=\"http://www.w3.org/2005/Atom\"/>", .unexpected("the element feed"), ""),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><entry xmlns=\"http://www.w3.org/2005/Atom\"/>", .documentType, ""),
            (
                "<entry \(namespaces)><m:properties><d:Seats>many</d:Seats></m:properties></entry>",
                .invalidValue("many"), "Seats"
            ),
            (
                "<entry \(namespaces)><m:properties><d:Id>1</d:Id><d:Id>2</d:Id></m:properties></entry>",
                .duplicate("Id"), ""
            ),
            (
                "<entry \(namespaces)><m:properties><d:Nope>1</d:Nope></m:properties></entry>",
                .unknownProperty("Nope"),
                "Nope"
            ),
            (
                "<entry \(namespaces)><m:properties><d:Site><d:Spot><d:Row>x</d:Row></d:Spot></d:Site></m:properties></entry>",
                .invalidValue("x"), "Site/Spot/Row"
            ),
        ] as [(String, XMLPayloadError.Reason, String)])
    func refused(text: String, reason: XMLPayloadError.Reason, path: String) {
        let error = #expect(throws: PayloadError.self) { try read(text) }
        guard case .malformedXML(let xml)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(xml.reason == reason && xml.path == path && xml.line == 1 && !xml.expected.isEmpty)
    }

    @Test("an undeclared prefix is refused, because it changes the meaning of names")
    func undeclaredPrefix() {
        let error = #expect(throws: PayloadError.self) {
            try read("<entry \(Self.namespaces)>\n<content x:type=\"application/xml\"/></entry>")
        }
        guard case .malformedXML(let xml)? = error, case .notWellFormed(let message) = xml.reason else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(xml.line == 2 && message.contains("prefix x"))
    }

    @Test("deep documents, wrong UTF-8 and unknown entities are refused with the limit")
    func hostile() {
        let depth = XMLPayloadLimits.maxDepth
        let deep = String(repeating: "<a>", count: depth + 1) + String(repeating: "</a>", count: depth + 1)
        var error = #expect(throws: PayloadError.self) { try read(deep) }
        if case .malformedXML(let xml)? = error { #expect(xml.reason == .tooDeep) } else { Issue.record("no error") }
        error = #expect(throws: PayloadError.self) { try read("<entry \(Self.namespaces)><id>&lol;</id></entry>") }
        if case .malformedXML(let xml)? = error, case .notWellFormed = xml.reason {
        } else {
            Issue.record("\(error as Any)")
        }
        var bytes = Array("<entry \(Self.namespaces)><id>x</id></entry>".utf8)
        bytes[bytes.count - 14] = 0xFF
        #expect(throws: PayloadError.self) { try AtomEntryReader(model: model).read(bytes, type: room) }
    }
}

@Suite("Atom feeds")
struct AtomFeedTests {
    private let model: EntityDataModel

    init() throws { model = try LegacyService.model() }

    private func elements(_ bytes: [UInt8], chunk: Int) throws(PayloadError) -> [CollectionPayloadReader.Element] {
        var reader = AtomFeedReader(model: model, type: LegacyService.room)
        var result: [CollectionPayloadReader.Element] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.append(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
            while let element = try reader.next() { result.append(element) }
        }
        try reader.finish()
        while let element = try reader.next() { result.append(element) }
        return result
    }

    private func room(_ id: String) throws -> ODataEntity {
        var entity = try #require(ODataEntity(ofSet: "Rooms", model: model))
        entity["Id"] = .string(id)
        entity.control.id = "Rooms('\(id)')"
        return entity
    }

    @Test("a feed or delta is written in pieces and read in chunks of any size", arguments: [ODataVersion.v2, .v4])
    func roundTrip(version: ODataVersion) throws {
        var writer = AtomFeedWriter(AtomEntryWriter(model: model, version: version))
        var bytes: [UInt8] = []
        writer.begin(id: "Rooms", title: "Rooms", context: "$metadata#Rooms/$delta", count: 3)
        writer.entity(try room("1"))
        bytes += writer.takeBytes()
        writer.removed(id: "Rooms('2')", reason: "changed")
        let link = DeltaLink(source: "Rooms('1')", relationship: "Desks", target: "Desks(1)")
        if version >= .v4 {
            writer.link(link, isDeleted: false, set: "Rooms")
            writer.link(link, isDeleted: true, set: "Rooms")
        }
        writer.entity(try room("3"))
        writer.end(nextLink: "N", deltaLink: "D")
        bytes += writer.takeBytes()
        var expected: [CollectionPayloadReader.Element] = [
            .entity(try room("1")),
            .removed(id: "Rooms('2')", entity: nil, reason: version < .v4 ? "deleted" : "changed"),
        ]
        if version >= .v4 { expected += [.link(link), .deletedLink(link)] }
        let context = version < .v4 ? nil : "$metadata#Rooms/$delta"
        expected += [
            .entity(try room("3")),
            .finished(CollectionSummary(context: context, count: 3, nextLink: "N", deltaLink: "D")),
        ]
        for chunk in [1, 17, bytes.count] { #expect(try elements(bytes, chunk: chunk) == expected) }
    }

    @Test(
        "links are resolved against their base, and an invalid base is refused",
        arguments: [
            ("http://h/svc/", "http://h/svc/n"), ("http://h/svc/a?b=/#c/", "http://h/svc/n"),
            ("http://h", "http://h/n"), ("http://h?q=/", "http://h/n"), ("htt#p://h/s/", "n"),
            ("a:b?c=://d/", "n"), ("?://", "n"), ("://h/", "n"), ("svc/", "n"), ("", "n"),
        ])
    func bases(base: String, link: String) throws {
        let text = """
            <feed xmlns="http://www.w3.org/2005/Atom" xml:base="\(base)"><link rel="next" href="n"/></feed>
            """
        #expect(try elements(Array(text.utf8), chunk: 64) == [.finished(CollectionSummary(nextLink: link))])
    }

    @Test("an entry is read as a feed with one entry")
    func single() throws {
        let bytes = AtomEntryWriter(model: model).document(try room("1"))
        #expect(try elements(bytes, chunk: 64) == [.entity(try room("1")), .finished(CollectionSummary())])
    }

    @Test("an error document is thrown, alone and within a feed")
    func failures() throws {
        var writer = AtomFeedWriter(AtomEntryWriter(model: model))
        writer.begin(id: "Rooms", title: "Rooms")
        writer.entity(try room("1"))
        let refusal = ODataErrorPayload(code: "7", message: "Gone", language: "en")
        var within = refusal
        within.language = nil
        writer.fail(refusal)
        #expect(throws: PayloadError.service(within)) { try elements(writer.takeBytes(), chunk: 64) }
        #expect(throws: PayloadError.service(refusal)) { try elements(refusal.writeXML(), chunk: 5) }
    }

    @Test("memory use does not grow with the number of entries")
    func flat() throws {
        var writer = AtomFeedWriter(AtomEntryWriter(model: model))
        writer.begin(id: "Rooms", title: "Rooms")
        var reader = AtomFeedReader(model: model, type: LegacyService.room)
        var count = 0
        for number in 1...2000 {
            writer.entity(try room(String(number)))
            try reader.append(writer.takeBytes())
            while let element = try reader.next() {
                // Each entity is returned as soon as it is complete.
                if case .entity(let entity) = element {
                    count += 1
                    #expect(entity["Id"] == .string(String(count)))
                }
            }
            #expect(count >= number - 1)
        }
    }
}

@Suite("XML documents besides entries and feeds")
struct XMLDocumentTests {
    private let model: EntityDataModel

    init() throws { model = try LegacyService.model() }

    @Test("errors with details are read in the forms of services and gateways")
    func errors() throws {
        let v4 = ODataErrorPayload(
            code: "1", message: "a < b", target: "Id", details: [.init(code: "2", message: "c", target: "Name")],
            innerError: #"{"trace":["x","y"],"at":{"line":"5"}}"#)
        #expect(try ODataErrorPayload(xml: v4.writeXML(version: .v4)) == v4)
        let gateway = """
            <error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>005056A509B11EE1</code>
            <message xml:lang="de">Nein</message><innererror><transactionid>4F</transactionid><errordetails>
            <errordetail><code>A/1</code><message>x</message><propertyref>Room/Id</propertyref><severity>error</severity></errordetail>
            <errordetail><code>B</code><message>y</message><propertyref/></errordetail></errordetails></innererror></error>
            """
        let error = try ODataErrorPayload(xml: Array(gateway.utf8))
        #expect(error.code == "005056A509B11EE1" && error.message == "Nein" && error.language == "de")
        #expect(error.details == [.init(code: "A/1", message: "x", target: "Room/Id"), .init(code: "B", message: "y")])
        #expect(try ODataErrorPayload(xml: error.writeXML(version: .v2)) == error)
        var json = JSONWriter()
        error.write(to: &json, dialect: .verbose)
        #expect(try ODataErrorPayload(json: json.bytes) == error, "the same in JSON")
    }

    @Test(
        "booleans of a service document are read in all forms",
        arguments: [
            ("true", true), ("1", true), ("TRUE", true), (" true ", true), ("X", true), ("x", true), ("Yes", true),
            ("false", false), ("0", false), ("False", false), ("\n0\t", false), ("no", false), ("perhaps", nil),
            ("", nil),
        ] as [(String, Bool?)])
    func booleans(text: String, expected: Bool?) throws {
        let attributes = ["creatable", "searchable", "requires-filter", "addressable"]
        let document = try AtomServiceDocument(
            xml: Array(
                """
                <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"
                xmlns:sap="http://www.sap.com/Protocols/SAPData"><workspace><atom:title>D</atom:title>
                <collection \(attributes.map { "sap:\($0)=\"\(text)\"" }.joined(separator: " ")) href="Rooms">
                <atom:title>Rooms</atom:title></collection></workspace></service>
                """.utf8))
        let rooms = try #require(document.collection(named: "Rooms"))
        #expect(rooms.isCreatable == expected ?? true && rooms.isSearchable == expected ?? false)
        #expect(rooms.requiresFilter == expected ?? false && rooms.isAddressable == expected ?? true)
    }

    @Test("a service document of a gateway, read and written", arguments: [ODataVersion.v2, .v4])
    func serviceDocument(version: ODataVersion) throws {
        let text = """
            <app:service xml:lang="en" xml:base="http://h/svc/" xmlns:app="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"
             xmlns:sap="http://www.sap.com/Protocols/SAPData"><app:workspace sap:semantics="crm"><atom:title type="text">Data</atom:title>
             <app:collection sap:creatable="false" sap:searchable="true" sap:content-version="2" href="Rooms"><atom:title>Rooms</atom:title>
             <sap:member-title>Room</sap:member-title><atom:link rel="search" href="Rooms/Search.xml" type="application/opensearchdescription+xml"/>
             <atom:link rel="http://www.sap.com/Protocols/SAPData/subscriptions" href="Subs"/></app:collection>
             <app:collection href="%3AOdd"><atom:title>Odd</atom:title></app:collection></app:workspace>
             <atom:link rel="self" href="http://h/svc/"/></app:service>
            """
        let document = try AtomServiceDocument(xml: Array(text.utf8))
        let rooms = try #require(document.collection(named: "Rooms"))
        #expect(!rooms.isCreatable && rooms.isUpdatable && rooms.isSearchable && rooms.contentVersion == "2")
        #expect(rooms.memberTitle == "Room" && rooms.searchLink?.url == "Rooms/Search.xml" && rooms.isSubscribable)
        #expect(document.workspaces[0].attributes == ["semantics": "crm"] && document.links.count == 1)
        #expect(document.document.entries.map(\.name) == ["Rooms", ":Odd"])
        #expect(try AtomServiceDocument(xml: document.write(version: version)) == document)
        let model = AtomServiceDocument(model: model, baseURL: "http://h/")
        #expect(
            try AtomServiceDocument(xml: model.write()).document.entries.map(\.name) == ["Rooms", "Buildings", "Desks"])
    }

    @Test("collections and workspaces are found by name and title, and belong to entity sets")
    func collections() throws {
        let text = """
            <service xml:base="http://h/svc/" xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom" xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <workspace sap:semantics="crm"><a:title>CRM</a:title><collection href="Rooms" sap:semantics="places" sap:addressable="false"><a:title>All rooms</a:title>
            <a:link rel="http://www.sap.com/Protocols/SAPData/rel#subscribe" href="Subscriptions"/></collection></workspace>
            <workspace><a:title>Other</a:title><collection href="Photos"><a:title>Photos</a:title><accept>image/*</accept></collection>
            <collection href="Desks"><a:title>Desks</a:title><accept>application/atom+xml;type=entry</accept></collection></workspace>
            <a:link rel="self" href="http://h/svc/"/><a:link rel="latest-version" href="http://h/svc;v=2/"/></service>
            """
        let document = try AtomServiceDocument(xml: Array(text.utf8))
        #expect(document.serverType == .gateway && document.latestVersionLink?.url == "http://h/svc;v=2/")
        #expect(document.workspaces(semantics: "crm").map(\.title) == ["CRM"])
        #expect(document.workspace(ofCollection: "Photos")?.title == "Other")
        for name in ["Rooms", "NS.Rooms", "NS.Container/Rooms", "All rooms"] {
            let rooms = try #require(document.collection(named: name))
            #expect(rooms.url == "Rooms" && rooms.semantics == "places" && !rooms.isAddressable && !rooms.hasMedia)
            #expect(rooms.subscriptionLink?.url == "Subscriptions")
            #expect(model.entitySet(of: rooms)?.name == "Rooms")
        }
        #expect(document.collection(named: "Nothing") == nil && document.collection(named: "Photos")?.hasMedia == true)
        #expect(document.collection(named: "Desks")?.hasMedia == false)
        let plain = text.replacing("sap:", with: "own:").replacing("xmlns:sap", with: "xmlns:own").replacing(
            "http://www.sap.com/Protocols/SAPData", with: "urn:own")
        #expect(try AtomServiceDocument(xml: Array(plain.utf8)).serverType == .odata)
    }

    @Test("an action link lists its parameters with their values")
    func actionParameters() {
        let link = AtomLink(relation: "x", url: "Book?Id='{Id}'&Seats=2&Note=a%20b#end")
        #expect(link.parameters == ["Id", "Seats", "Note"])
        #expect(link.defaultParameterValues == ["Seats": "2", "Note": "a b"])
        #expect(link.url(with: ["Id": "7", "Seats": "3&4"]) == "Book?Id='7'&Seats=3%264&Note=a%20b#end")
        #expect(AtomLink(relation: "x", url: "Book").url(with: ["Id": "7"]) == "Book?Id=7")
        #expect(AtomLink(relation: "x", url: "Book").parameters.isEmpty)
    }

    @Test("a service document without a workspace around its collections is refused")
    func withoutWorkspace() {
        let text = """
            <service xmlns="http://www.w3.org/2007/app">
            <collection href="A"/></service>
            """
        let error = #expect(throws: PayloadError.self) { try AtomServiceDocument(xml: Array(text.utf8)) }
        guard case .malformedXML(let xml)? = error else {
            Issue.record("no error")
            return
        }
        #expect(xml.line == 2 && xml.reason == .unexpected("a collection"))
    }

    @Test("an OpenSearch description gives URLs from its templates")
    func openSearch() throws {
        let description = OpenSearchDescription(
            shortName: "Rooms", text: "Find rooms",
            templates: [
                .init(
                    template: "http://h/Rooms?search={searchTerms}&top={count?}&x={x:y}", type: "application/atom+xml")
            ])
        #expect(try OpenSearchDescription(xml: description.write()) == description)
        let template = description.templates[0]
        #expect(template.parameters.map(\.name) == ["searchTerms", "count", "x:y"])
        #expect(template.parameters.map(\.isOptional) == [false, true, false])
        #expect(
            template.url(with: ["searchTerms": "a&b ü", "x:y": "1"]) == "http://h/Rooms?search=a%26b%20%C3%BC&top=&x=1")
        #expect(template.url(with: ["searchTerms": "a"]) == nil)
    }

    @Test("a subscription is written and read")
    func subscription() throws {
        let wish = SubscriptionDocument(
            id: "1", title: "Rooms & more", deliveryAddress: "http://push/1", collection: "Rooms", filter: "Seats gt 5",
            changeType: "created,updated", persistsNotifications: true)
        #expect(try SubscriptionDocument(xml: wish.write()) == wish)
        let incomplete = String(decoding: wish.write(), as: UTF8.self).replacing("deliveryAddress", with: "address")
        let error = #expect(throws: PayloadError.self) { try SubscriptionDocument(xml: Array(incomplete.utf8)) }
        #expect(error?.description.contains("found properties without deliveryAddress; expected") == true)
    }

    @Test("references of every version", arguments: [ODataVersion.v2, .v3, .v4])
    func references(version: ODataVersion) throws {
        let one = ReferencePayload(ids: ["Rooms('1')"], isCollection: false)
        #expect(try ReferencePayload(xml: one.writeXML(version: version)) == one)
        let many = ReferencePayload(ids: ["a", "b"], isCollection: true, count: 5, nextLink: "n")
        #expect(try ReferencePayload(xml: many.writeXML(version: version)) == many)
    }

    @Test(
        "geometries in GML",
        arguments: [
            #"{"type":"Point","coordinates":[23.1,32.1]}"#,
            #"{"type":"LineString","coordinates":[[1,2],[3,4.5]]}"#,
            #"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}"#,
            #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#,
            #"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}"#,
            #"{"type":"MultiPolygon","coordinates":[[[[0,0],[4,0],[4,4],[0,0]]]]}"#,
            #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[1,2],[3,4]]}]}"#,
            #"{"type":"Point","coordinates":[23.1,32.1],"crs":{"type":"name","properties":{"name":"EPSG:25832"}}}"#,
        ])
    func geography(json: String) throws {
        for type in [PrimitiveType.geography, .geometry] {
            let value = try JSONScanner.scan(Array(json.utf8)) { (scanner) throws(JSONError) in
                try scanner.readPrimitive(type)
            }
            guard case .geo(let geo) = value else {
                Issue.record("no geo value")
                return
            }
            let markup = GeographyMarkup.markup(geo)
            let text = "<x xmlns:gml=\"\(AtomNames.gml)\">\(markup)</x>"
            let element = try XMLBody.parse(Array(text.utf8))
            #expect(try GeographyMarkup.read(element, type) == value)
            if json == #"{"type":"Point","coordinates":[23.1,32.1]}"# {
                #expect(markup.contains(type == .geography ? "<gml:pos>32.1 23.1<" : "<gml:pos>23.1 32.1<"))
            }
        }
    }

    @Test("a list of positions has a multiple of the stated number of coordinates")
    func positionList() throws {
        let text =
            "<x xmlns:gml=\"\(AtomNames.gml)\"><gml:LineString><gml:posList srsDimension=\"3\">"
            + "1 2 3 4 5 6</gml:posList></gml:LineString></x>"
        let value = try GeographyMarkup.read(try XMLBody.parse(Array(text.utf8)), .geometry)
        #expect(value == .geo(GeoValue(.geometry, .lineString([.init(x: 1, y: 2, z: 3), .init(x: 4, y: 5, z: 6)]))))
    }

    @Test(
        "GML that is no geometry of the type is an error",
        arguments: [
            "<gml:Circle/>", "<gml:Point><gml:pos>1</gml:pos></gml:Point>",
            "<gml:Point gml:srsName=\"urn:ogc:def:crs:EPSG::1234567\"><gml:pos>1 2</gml:pos></gml:Point>",
            "<gml:LineString><gml:pos>1 2</gml:pos></gml:LineString>",
            "<gml:MultiCurve><gml:curveMember><gml:Point/></gml:curveMember></gml:MultiCurve>",
            String(repeating: "<gml:MultiGeometry><gml:geometryMember>", count: 20)
                + String(repeating: "</gml:geometryMember></gml:MultiGeometry>", count: 20),
        ])
    func wrongMarkup(markup: String) throws {
        let element = try XMLBody.parse(Array("<x xmlns:gml=\"\(AtomNames.gml)\">\(markup)</x>".utf8))
        #expect(throws: XMLPayloadError.self) { try GeographyMarkup.read(element, .geography) }
    }
}
