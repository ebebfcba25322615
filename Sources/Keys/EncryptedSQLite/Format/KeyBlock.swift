import Crypto
import Foundation
import Secrets

/// The first 4096 bytes of an encrypted database: what it is, and its data key under the user's key.
///
/// Two slots make re-keying atomic: the new envelope is written to the slot not in use, with the next
/// sequence number, and synced; only then is the old slot wiped. At every moment one slot is whole, and of
/// two whole ones the higher sequence counts. `Format.md` has the bytes.
struct KeyBlock {
    static let magic = Array("Outpost SQLite\r\n".utf8)
    static let headerSize = 512
    static let slotSize = 512
    /// The slots are far apart, so that a torn write of one cannot reach the other.
    static let slotOffsets = [1024, 3072]

    let version: FormatVersion
    let fileIdentity: [UInt8]
    let header: [UInt8]
    private(set) var slots: [Slot?]

    struct Slot {
        var sequence: UInt64
        var envelope: KeyEnvelope
    }

    /// Why bytes are not a key block.
    enum Refusal: Error, Equatable {
        case plainDatabase
        case notADatabase
        case unsupportedFormat(Int)
        case damaged
        /// The system could not read it; the number is SQLite's result code.
        case unreadable(Int32)
    }

    /// A new block without a slot.
    init(fileIdentity: [UInt8], version: FormatVersion = .latest) {
        var header = Self.magic
        header += Self.bytes(of: version)
        header += [UInt8(FileFormat.pageSize >> 8), UInt8(FileFormat.pageSize & 255)]
        header += [UInt8(FileFormat.reservedSize), 0, 0, 0]
        header += fileIdentity
        header += [UInt8](repeating: 0, count: Self.headerSize - header.count)
        self.header = header
        self.fileIdentity = fileIdentity
        self.version = version
        slots = [nil, nil]
    }

    /// Where the version stands.
    static let versionOffset = 16

    /// The two bytes of a version.
    static func bytes(of version: FormatVersion) -> [UInt8] { [0, UInt8(version.rawValue)] }

    /// Reads a block.
    init(bytes: [UInt8]) throws(Refusal) {
        guard !bytes.starts(with: Array("SQLite format 3\0".utf8)) else { throw .plainDatabase }
        let isMarked = bytes.starts(with: Self.magic)
        guard bytes.count == FileFormat.keyBlockSize else { throw isMarked ? .damaged : .notADatabase }
        let number = Int(bytes[16]) << 8 | Int(bytes[17])
        let stated = FormatVersion(rawValue: number)
        // The version decides under which header a slot is whole. A whole slot vouches for the header that it was written
        // with, whatever stands in its place now: what has another name or version is then a damaged file of ours, and
        // neither a stranger's nor a later one.
        self.init(slotsOf: bytes, stated ?? .latest)
        let isVouchedFor =
            stated != nil
            ? active != nil : FormatVersion.allCases.contains { KeyBlock(slotsOf: bytes, $0).active != nil }
        guard isMarked || isVouchedFor else { throw .notADatabase }
        guard stated != nil || isVouchedFor else { throw .unsupportedFormat(number) }
        guard isVouchedFor, bytes.starts(with: header) else { throw .damaged }
    }

    /// Takes the file identity and the slots that are whole, under the header that a version has for that identity.
    private init(slotsOf bytes: [UInt8], _ version: FormatVersion) {
        self.init(fileIdentity: Array(bytes[24..<40]), version: version)
        for (index, offset) in Self.slotOffsets.enumerated() {
            slots[index] = slot(from: Array(bytes[offset..<(offset + Self.slotSize)]), isWhole: true)
        }
    }

    /// What a block was whose bytes are damaged: all but the file identity, the sequence numbers and the envelopes follows from
    /// the format.
    ///
    /// - Returns: Blocks of one slot, in the order in which they are to be tried. One counts only where its envelope opens,
    ///   whose tag covers the header and the sequence number.
    static func mended(_ bytes: [UInt8]) -> [KeyBlock] {
        guard bytes.count == FileFormat.keyBlockSize else { return [] }
        let stated = FormatVersion(rawValue: Int(bytes[16]) << 8 | Int(bytes[17]))
        // A version that is none was damaged: the envelope's tag tells which one it was.
        let versions = stated.map { [$0] } ?? FormatVersion.allCases.reversed()
        let whole = versions.map { KeyBlock(slotsOf: bytes, $0) }.filter { $0.active != nil }
        // A slot that is whole counts, alone.
        guard whole.isEmpty else { return whole }
        let blocks = FormatVersion.allCases.reversed().flatMap { version in
            slotOffsets.enumerated().compactMap { index, offset -> KeyBlock? in
                var mended = KeyBlock(slotsOf: bytes, version)
                mended.slots[index] = mended.slot(from: Array(bytes[offset..<(offset + slotSize)]), isWhole: false)
                return mended.slots[index] == nil ? nil : mended
            }
        }
        return blocks.sorted { $0.sequence > $1.sequence }
    }

    /// Whether bytes are those of this block. A slot that an upgrade of the format has written or left, and that does not
    /// count under this header, is no difference: the next unlocking removes it.
    func isWritten(as bytes: [UInt8]) -> Bool {
        guard bytes.count == FileFormat.keyBlockSize else { return false }
        var expected = self.bytes
        for other in FormatVersion.allCases where other != version {
            let remains = KeyBlock(slotsOf: bytes, other)
            for (index, offset) in Self.slotOffsets.enumerated()
            where slots[index] == nil && remains.slots[index] != nil {
                expected.replaceSubrange(offset..<(offset + Self.slotSize), with: remains.slotBytes(index))
            }
        }
        return expected == bytes
    }

    /// The same block in another version, whose slot counts under that header; the data key and the user's key stay.
    ///
    /// The salt stays too, so that a passphrase needs no second derivation; the nonce is new.
    ///
    /// - Returns: The block, and the index of its slot.
    func upgraded(
        to version: FormatVersion, with source: KeySource
    ) throws(SecretError) -> (block: KeyBlock, slot: Int) {
        let dataKey = try dataKey(with: source)
        guard let active, let old = slots[active]?.envelope else { throw .wrongKey }
        var block = KeyBlock(fileIdentity: fileIdentity, version: version)
        block.slots = slots
        let sequence = sequence &+ 1
        let envelope = try KeyEnvelope.seal(
            dataKey, with: source, context: block.context(sequence: sequence), derivation: old.derivation ?? .standard,
            deriver: .shared, salt: Array(old.bytes[16..<32]), nonce: randomBytes(FileFormat.nonceSize))
        let slot = block.place(Slot(sequence: sequence, envelope: envelope))
        return (block, slot)
    }

    /// The sequence number of the slot that counts; 0 without one.
    private var sequence: UInt64 { active.flatMap { slots[$0]?.sequence } ?? 0 }

    /// The index of the slot that counts.
    var active: Int? {
        slots.indices.filter { slots[$0] != nil }.max { (slots[$0]?.sequence ?? 0) < (slots[$1]?.sequence ?? 0) }
    }

    /// What the envelope of a slot is bound to: the header and the sequence number.
    func context(sequence: UInt64) -> [UInt8] {
        header + withUnsafeBytes(of: sequence.bigEndian) { Array($0) }
    }

    /// Opens the envelope that counts.
    func dataKey(with source: KeySource) throws(SecretError) -> EncryptionKey {
        guard let active, let slot = slots[active] else { throw .wrongKey }
        return try slot.envelope.open(with: source, context: context(sequence: slot.sequence))
    }

    /// Wraps the data key again, in the slot that is not in use.
    ///
    /// - Returns: The index of that slot, to be written before the other one is wiped.
    mutating func addSlot(
        _ dataKey: EncryptionKey, with source: KeySource, derivation: ScryptParameters
    ) throws(SecretError) -> Int {
        let sequence = sequence &+ 1
        let envelope = try KeyEnvelope.seal(
            dataKey, with: source, context: context(sequence: sequence), derivation: derivation)
        return place(Slot(sequence: sequence, envelope: envelope))
    }

    /// Puts a slot where no slot counts, and forgets the one that did.
    mutating func place(_ slot: Slot) -> Int {
        let index = active == 0 ? 1 : 0
        slots[index] = slot
        slots[1 - index] = nil
        return index
    }

    /// The bytes of one slot; zeros when it is empty.
    func slotBytes(_ index: Int) -> [UInt8] {
        guard let slot = slots[index] else { return [UInt8](repeating: 0, count: Self.slotSize) }
        var bytes = withUnsafeBytes(of: slot.sequence.bigEndian) { Array($0) }
        bytes += [0, UInt8(KeyEnvelope.byteCount), 0, 0, 0, 0, 0, 0]
        bytes += slot.envelope.bytes
        bytes += [UInt8](repeating: 0, count: Self.slotSize - 32 - bytes.count)
        // The digest tells a torn slot from a wrong key; it protects nothing. The envelope's tag does.
        return bytes + Array(SHA256.hash(data: header + bytes))
    }

    /// The whole block.
    var bytes: [UInt8] {
        var block = header + [UInt8](repeating: 0, count: FileFormat.keyBlockSize - header.count)
        for (index, offset) in Self.slotOffsets.enumerated() {
            block.replaceSubrange(offset..<(offset + Self.slotSize), with: slotBytes(index))
        }
        return block
    }

    /// - Parameter isWhole: Whether its digest must fit.
    private func slot(from bytes: [UInt8], isWhole: Bool) -> Slot? {
        let sequence = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let content = Array(bytes[..<(Self.slotSize - 32)])
        guard sequence > 0,
            !isWhole || Array(SHA256.hash(data: header + content)) == Array(bytes[(Self.slotSize - 32)...]),
            let envelope = try? KeyEnvelope(bytes: Array(bytes[16..<(16 + KeyEnvelope.byteCount)]))
        else { return nil }
        return Slot(sequence: sequence, envelope: envelope)
    }
}
