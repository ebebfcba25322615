import ODataModel
import Testing

@Suite("Control information")
struct ControlInformationTests {
    @Test("Each segment of a path keeps its own value")
    func parts() {
        var control = ControlInformation()
        control.id = "Orders(1)"
        control.etag = "W/\"1\""
        control.type = QualifiedName("Shop", "Order")
        control.editLink = "edit"
        control.readLink = "read"
        control.mediaReadLink = "media"
        control.mediaContentType = "image/png"
        control.mediaEtag = "\"2\""
        control.removedReason = "deleted"
        control.annotations["Shop.Note"] = "new"
        #expect(control.id == "Orders(1)" && control.etag == "W/\"1\"")
        #expect(control.type == QualifiedName("Shop", "Order"))
        #expect(control.editLink == "edit" && control.readLink == "read")
        #expect(control.mediaReadLink == "media" && control.mediaContentType == "image/png")
        #expect(control.mediaEtag == "\"2\"" && control.removedReason == "deleted")
        #expect(control.annotations == ["Shop.Note": "new"])
    }

    @Test("A value that is set and removed leaves no trace")
    func takenAway() {
        var control = ControlInformation()
        control.editLink = "edit"
        control.annotations["Shop.Note"] = "new"
        #expect(control != ControlInformation())
        control.editLink = nil
        control.annotations = [:]
        #expect(control == ControlInformation())
        #expect(control.hashValue == ControlInformation().hashValue)
    }

    @Test("A numeric id reads as its text and can be replaced")
    func numbered() {
        let text = ControlInformation(id: "Orders(-7)", etag: "W/\"1\"")
        var control = ControlInformation(idStart: "Orders(", number: -7, etag: "W/\"1\"")
        #expect(control.id == "Orders(-7)")
        #expect(control == text && control.hashValue == text.hashValue)
        #expect(control != ControlInformation(idStart: "Orders(", number: 7, etag: "W/\"1\""))
        control.id = "Orders(8)"
        #expect(control.id == "Orders(8)")
        control.id = nil
        #expect(control.id == nil && control.etag == "W/\"1\"")
    }

    @Test("A copy is independent of its original")
    func copies() {
        var control = ControlInformation()
        control.mediaEtag = "\"1\""
        let copy = control
        control.mediaEtag = "\"2\""
        control.annotations["Shop.Note"] = "new"
        #expect(copy.mediaEtag == "\"1\"" && copy.annotations.isEmpty)
    }
}
