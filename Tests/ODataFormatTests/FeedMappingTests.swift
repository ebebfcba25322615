import ODataModel
import Testing

@testable import ODataFormat

@Suite("Customised feeds")
struct FeedMappingTests {
    private let model: EntityDataModel
    private let type = QualifiedName("Fc", "Note")

    init() throws {
        model = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
                <edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">
                <Schema Namespace="Fc" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
                  <EntityType Name="Base" m:FC_SourcePath="By/Mail" m:FC_TargetPath="SyndicationAuthorEmail" m:FC_KeepInContent="false"
                    m:FC_SourcePath_1="By/Nick" m:FC_TargetPath_1="SyndicationContributorName" m:FC_KeepInContent_1="false"><Key><PropertyRef Name="Id"/></Key>
                    <Property Name="Id" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="By" Type="Fc.Person"/></EntityType>
                  <EntityType Name="Note" BaseType="Fc.Base">
                    <Property Name="Text" Type="Edm.String" m:FC_TargetPath="SyndicationSummary" m:FC_ContentKind="xhtml" m:FC_KeepInContent="false"/>
                    <Property Name="Changed" Type="Edm.DateTimeOffset" m:FC_TargetPath="SyndicationUpdated" m:FC_KeepInContent="true"/>
                    <Property Name="Rank" Type="Edm.Int64" m:FC_TargetPath="a/b/@rank" m:FC_NsUri="urn:x" m:FC_NsPrefix="x" m:FC_KeepInContent="false"/>
                    <Property Name="Kind" Type="Edm.String" m:FC_TargetPath="a/b" m:FC_NsUri="urn:x" m:FC_NsPrefix="x" m:FC_KeepInContent="false"/>
                    <Property Name="Tag" Type="Edm.String" m:FC_TargetPath="a/c" m:FC_NsUri="urn:x" m:FC_NsPrefix="x" m:FC_KeepInContent="false"/>
                  </EntityType>
                  <ComplexType Name="Person"><Property Name="Mail" Type="Edm.String"/><Property Name="Nick" Type="Edm.String"/></ComplexType>
                  <EntityContainer Name="C"><EntitySet Name="Notes" EntityType="Fc.Note"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }

    private func note() throws -> ODataEntity {
        var note = try #require(ODataEntity(ofSet: "Notes", model: model))
        note["Id"] = 1
        note["Text"] = "<b xmlns=\"http://www.w3.org/1999/xhtml\">bold</b>"
        note["Changed"] = .dateTimeOffset(ODataDateTimeOffset(seconds: 86_400))
        note["Rank"] = 5
        note["Kind"] = "a & b"
        note["Tag"] = "t"
        try note.set("a@b.c", at: "By/Mail", model: model)
        try note.set("Al", at: "By/Nick", model: model)
        note.markUnchanged()
        return note
    }

    @Test("properties are mapped to elements of Atom and of other namespaces, and read back")
    func roundTrip() throws {
        let note = try note()
        let bytes = AtomEntryWriter(model: model).document(note)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("<email>a@b.c</email>") && text.contains("<updated>1970-01-02T00:00:00Z</updated>"))
        #expect(text.contains("<x:b x:rank=\"5\">a &amp; b</x:b>") && text.contains("<x:c>t</x:c>"))
        #expect(text.contains("<summary type=\"xhtml\"><b xmlns"))
        for name in ["Text", "Rank", "Kind", "Tag", "Mail", "Nick"] { #expect(!text.contains("<d:\(name)")) }
        #expect(text.contains("<d:Changed"), "kept in the content")
        #expect(try AtomEntryReader(model: model, strictness: .strict).read(bytes, type: type).entity == note)
    }

    @Test("XHTML content that is not well-formed becomes text")
    func notWellFormed() throws {
        var note = try note()
        note["Text"] = "1 < 2"
        note.markUnchanged()
        let bytes = AtomEntryWriter(model: model).document(note)
        #expect(String(decoding: bytes, as: UTF8.self).contains("<summary type=\"text\">1 &lt; 2</summary>"))
        #expect(try AtomEntryReader(model: model).read(bytes, type: type).entity == note)
    }

    @Test("a property that is not loaded differs from an empty one")
    func notLoaded() throws {
        var note = try #require(ODataEntity(ofSet: "Notes", model: model))
        note["Id"] = 1
        note.markUnchanged()
        let bytes = AtomEntryWriter(model: model, purpose: .update).document(note)
        #expect(try AtomEntryReader(model: model).read(bytes, type: type).entity == note)
    }

    @Test("MS-ODATA 2.2.3.7.2.1: properties are mapped to links and categories with conditions")
    func conditions() throws {
        let model = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
                <edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="3.0">
                <Schema Namespace="Fc" xmlns="http://schemas.microsoft.com/ado/2009/11/edm">
                  <EntityType Name="Film"><Key><PropertyRef Name="Id"/></Key>
                    <Property Name="Id" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="Poster" Type="Edm.String" m:FC_TargetPath="SyndicationLinkHref" m:FC_CriteriaValue="urn:poster" m:FC_KeepInContent="false"/>
                    <Property Name="PosterType" Type="Edm.String" m:FC_TargetPath="SyndicationLinkType" m:FC_CriteriaValue="urn:poster" m:FC_KeepInContent="false"/>
                    <Property Name="Site" Type="Edm.String" m:FC_TargetPath="SyndicationLinkHref" m:FC_KeepInContent="false"/>
                    <Property Name="SiteRel" Type="Edm.String" m:FC_TargetPath="SyndicationLinkRel" m:FC_KeepInContent="false"/>
                    <Property Name="Genre" Type="Edm.String" m:FC_TargetPath="SyndicationCategoryTerm" m:FC_CriteriaValue="urn:genre" m:FC_KeepInContent="false"/>
                    <Property Name="Rating" Type="Edm.Int32" m:FC_TargetPath="SyndicationCategoryTerm" m:FC_CriteriaValue="urn:rating" m:FC_KeepInContent="true"/>
                  </EntityType>
                  <EntityContainer Name="C"><EntitySet Name="Films" EntityType="Fc.Film"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        var film = try #require(ODataEntity(ofSet: "Films", model: model))
        film["Id"] = 1
        film["Poster"] = "http://x/p.png"
        film["PosterType"] = "image/png"
        film["Site"] = "http://x/site"
        film["SiteRel"] = "alternate"
        film["Genre"] = "Noir"
        film["Rating"] = 5
        film.control.id = "http://x/Films(1)"
        let bytes = AtomEntryWriter(model: model, version: .v3).document(film)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("<link rel=\"urn:poster\" href=\"http://x/p.png\" type=\"image/png\">"))
        #expect(text.contains("<link href=\"http://x/site\" rel=\"alternate\">"))
        #expect(text.contains("<category scheme=\"urn:genre\" term=\"Noir\">"))
        #expect(!text.contains("<d:Poster") && !text.contains("<d:Genre") && text.contains("<d:Rating"))
        let read = try AtomEntryReader(model: model, strictness: .strict).read(
            bytes, type: QualifiedName("Fc", "Film")
        ).entity
        #expect(read == film)
        #expect(read.atomLinks.isEmpty, "a link that is the place of a property is not told of again")
        // Without a link with the relation, the property is not loaded. Other categories are ignored.
        let bare = String(decoding: bytes, as: UTF8.self).replacing("urn:poster", with: "urn:other")
            .replacing("urn:genre", with: "urn:tag")
        let partly = try AtomEntryReader(model: model).read(Array(bare.utf8), type: QualifiedName("Fc", "Film")).entity
        #expect(partly["Poster"] == nil && partly["Genre"] == nil && partly["Site"] != nil)
    }

    @Test("only the link with a mapped property is removed from the links of the entry")
    func mappedLink() throws {
        let model = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
                <edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="3.0">
                <Schema Namespace="Fc" xmlns="http://schemas.microsoft.com/ado/2009/11/edm">
                  <EntityType Name="Film"><Key><PropertyRef Name="Id"/></Key>
                    <Property Name="Id" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="Site" Type="Edm.String" m:FC_TargetPath="SyndicationLinkTitle" m:FC_KeepInContent="false"/>
                    <Property Name="Kind" Type="Edm.String" m:FC_TargetPath="SyndicationLinkType" m:FC_KeepInContent="false"/>
                  </EntityType>
                  <EntityContainer Name="C"><EntitySet Name="Films" EntityType="Fc.Film"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        func links(_ links: String) throws -> [AtomLink] {
            let text = """
                <entry xmlns="http://www.w3.org/2005/Atom" xml:base="http://x/">\(links)</entry>
                """
            let reader = AtomEntryReader(model: model)
            return try reader.read(Array(text.utf8), type: QualifiedName("Fc", "Film")).entity.atomLinks
        }
        let mapped = #"rel="r" title="t" type="text/plain""#
        let other = #"<link rel="r" href="other"/>"#
        // Without a URL.
        #expect(try links("<link \(mapped)/>\(other)").map(\.url) == ["http://x/other"])
        // Whose URL ends like another one.
        #expect(try links(#"<link \#(mapped) href="b"/><link rel="r" href="a/b"/>"#).map(\.url) == ["http://x/a/b"])
        // Twice alike: one of them holds the properties.
        #expect(try links("<link \(mapped)/><link \(mapped)/>").count == 1)
    }
}
