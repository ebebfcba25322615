import ODataModel
import Testing

@Suite("Layout of values")
struct LayoutTests {
    @Test("A value takes 24 bytes, also if it is optional")
    func value() {
        #expect(MemoryLayout<ODataValue>.stride == 24)
        #expect(MemoryLayout<ODataValue?>.stride == 24)
    }

    @Test("An entity takes three words and a type reference takes one")
    func entity() {
        #expect(MemoryLayout<ODataEntity>.size == 24)
        #expect(MemoryLayout<TypeReference>.size == 8)
    }

    @Test("A property takes ten words, because a model has thousands of them")
    func property() {
        #expect(MemoryLayout<Facets>.size <= 20)
        #expect(MemoryLayout<Property>.stride <= 80)
    }

    @Test("A failed condition gives an optional and not null")
    func noLiteral() {
        func value(_ isKnown: Bool) -> ODataValue? { isKnown ? .null : nil }
        #expect(value(false) == nil)
        #expect(value(true)?.isNull == true)
    }
}
