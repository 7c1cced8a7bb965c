"""The text that train_tiny.py learns from: sentences about a harbour town, its trades, tools and animals.

Every sentence follows from a table of facts, so a hidden word can be inferred from the others: what a cooper
uses, what an otter eats, where a barge is bound, what land a village lies by. All of it, tables, templates
and prose, was written for this project.
"""


def rows(table):
    """Lines of comma-separated cells."""
    return [line.split(", ") for line in table.strip().splitlines()]


# animal, young, home, food, voice, colour
ANIMALS = rows(
    """
heron, chick, reed bed, eels, croaks, grey
otter, cub, river bank, trout, whistles, brown
seal, pup, sand bar, herring, barks, spotted
gull, chick, chimney, crusts, screams, white
crow, fledgling, elm, acorns, caws, black
robin, fledgling, hedge, worms, sings, red
owl, owlet, barn, mice, hoots, tawny
swan, cygnet, mill pond, water weed, hisses, white
goose, gosling, marsh, barley, honks, grey
duck, duckling, ditch, snails, quacks, green
hen, chick, coop, grain, clucks, speckled
cat, kitten, net loft, sardines, purrs, ginger
dog, puppy, boat shed, bones, growls, shaggy
goat, kid, cliff, thistles, bleats, horned
sheep, lamb, hill, clover, bleats, woolly
cow, calf, meadow, hay, moos, dappled
horse, foal, stable, oats, neighs, chestnut
donkey, foal, lane, carrots, brays, dusty
pig, piglet, sty, turnips, grunts, pink
mouse, pup, granary, cheese, squeaks, tiny
rat, pup, cellar, candles, squeaks, sleek
fox, cub, thicket, rabbits, yelps, rusty
badger, cub, hollow, beetles, snorts, striped
hedgehog, hoglet, orchard, slugs, snuffles, prickly
hare, leveret, heath, grass, thumps, lean
squirrel, kit, oak, hazelnuts, chatters, russet
bat, pup, belfry, moths, clicks, leathery
frog, froglet, well, flies, croaks, slimy
toad, toadlet, cabbage patch, ants, rumbles, warty
crab, crablet, rock pool, mussels, rattles, orange
dolphin, calf, open bay, mackerel, clicks, silver
cormorant, chick, breakwater, perch, grumbles, dark
puffin, puffling, island, sand eels, mutters, bright
swallow, nestling, rafters, gnats, twitters, blue
woodpecker, nestling, birch, grubs, drums, crested
bee, larva, hive, nectar, hums, golden
"""
)

# tool, article, trade, work, object, place, material
TOOLS = rows(
    """
saw, a, carpenter, cuts, planks, workshop, steel
plane, a, joiner, smooths, boards, joinery, beech
adze, an, shipwright, shapes, ribs, slipway, iron
mallet, a, caulker, drives, oakum, dry dock, hardwood
chisel, a, carver, trims, letters, studio, steel
hammer, a, blacksmith, beats, horseshoes, forge, iron
tongs, the, farrier, holds, nails, smithy, iron
anvil, an, smith, flattens, bars, forge, iron
needle, a, sailmaker, sews, sails, sail loft, bone
awl, an, saddler, pierces, straps, harness room, steel
shears, the, shearer, clips, fleeces, fold, steel
loom, a, weaver, weaves, blankets, attic, ash
spindle, a, spinner, twists, wool, cottage, birch
wheel, a, potter, turns, jugs, kiln yard, stone
ladle, a, cook, stirs, soup, galley, copper
oven, an, baker, bakes, loaves, bakery, brick
sieve, a, miller, sifts, flour, mill, horsehair
scythe, a, mower, mows, hay, meadow, steel
sickle, a, reaper, reaps, barley, field, iron
spade, a, gardener, digs, trenches, garden, ash
rake, a, gravedigger, gathers, leaves, churchyard, wood
hoe, a, farmer, weeds, turnips, allotment, iron
trowel, a, mason, spreads, mortar, scaffold, steel
plumb line, a, builder, checks, walls, building site, lead
brush, a, painter, paints, hulls, boatyard, bristle
lathe, a, turner, rounds, spokes, shed, cast iron
croze, a, cooper, grooves, barrels, cooperage, beech
auger, an, wheelwright, bores, hubs, yard, steel
hook, a, docker, lifts, bales, quay, iron
net, a, fisherman, catches, herring, open bay, twine
pot, a, crabber, traps, lobsters, reef, willow
lamp, a, keeper, warns, ships, lighthouse, brass
chart, a, pilot, finds, channels, wheelhouse, paper
sextant, a, navigator, measures, stars, bridge deck, brass
ledger, a, clerk, counts, crates, customs house, leather
pen, a, harbour master, signs, papers, office, silver
stamp, a, postman, marks, letters, post office, rubber
scales, the, fishmonger, weighs, cod, market, brass
knife, a, cobbler, pares, soles, alley, steel
bellows, the, glassblower, feeds, flames, glassworks, hide
"""
)

# vessel, cargo, from, to, crew, berth
VESSELS = rows(
    """
barge, coal, Tarrowmouth, Ellenport, three men, coal wharf
schooner, timber, Northaven, Marrick, nine hands, timber pond
trawler, cod, Grey Bank, Ellenport, six men, fish quay
lugger, herring, Silver Deep, Marrick, four men, fish quay
ketch, salt, Saltry, Ellenport, two brothers, north pier
brig, wine, Vallora, Tarrowmouth, twelve hands, customs quay
tug, nothing, Ellenport, Tarrowmouth, two men, tug steps
ferry, passengers, Ellenport, Puffin Island, a captain and a mate, ferry stage
steamer, mail, Northaven, Ellenport, twenty hands, south pier
tanker, lamp oil, Vallora, Marrick, fifteen hands, oil jetty
dredger, mud, Ellenport, Grey Bank, five men, dredger dock
cutter, letters, Marrick, Northaven, four hands, customs quay
yawl, oysters, Saltry, Marrick, one old woman, oyster steps
punt, reeds, Lower Fen, Saltry, a boy, reed landing
raft, logs, Upper Fen, Tarrowmouth, two lumbermen, timber pond
coaster, bricks, Marrick, Saltry, seven men, brick wharf
"""
)

# month, season, weather, work on land, festival
MONTHS = rows(
    """
January, winter, frost, mend the nets, candle night
February, winter, snow, tar the boats, thaw fair
March, spring, gales, plough the fields, kite day
April, spring, showers, sow the barley, egg market
May, spring, blossom, shear the lambs, maypole dance
June, summer, sunshine, mow the hay, rowing race
July, summer, heat, pick the cherries, lantern swim
August, summer, thunder, reap the corn, harvest supper
September, autumn, mist, press the apples, cider feast
October, autumn, rain, dig the turnips, goose fair
November, autumn, fog, smoke the herring, bonfire eve
December, winter, sleet, split the logs, carol walk
"""
)

# Villages are named by a first part and an ending, and the ending tells the lie of the land.
VILLAGE_PARTS = """Alder Amber Ash Birk Black Bram Brock Corn Crow Dun Elder Fal Fern Gorse Hag Haver Hazel
Holm Kel Lang Linden Mar Nether Oak Otter Pen Quarr Raven Rush Stan Thorn Under Wether Whit Wind
Yar""".split()
VILLAGE_ENDINGS = rows(
    """
mouth, river mouth, pilots
ford, crossing, carters
wick, dairy farm, milkmaids
combe, valley, shepherds
ness, headland, wreckers
mere, lake, anglers
holt, wood, foresters
stead, plain, ploughmen
cliffe, cliff, climbers
bridge, bridge, toll keepers
minster, abbey, monks
haven, harbour, sailors
"""
)

PEOPLE = """Ada Bram Cora Dirk Edda Finn Greta Hob Ines Jory Kit Lena Milo Nell Otto Peg Quill Rosa Sten
Tilda""".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
HOURS = "one two three four five six seven eight nine ten eleven".split()
OPPOSITES = rows(
    """
hot, cold
high, low
wet, dry
old, new
full, empty
early, late
near, far
light, heavy
loud, quiet
sharp, blunt
fast, slow
deep, shallow
rough, smooth
open, shut
rich, poor
strong, weak
"""
)

ANIMAL_TEMPLATES = [
    "the {colour} {animal} lives in the {home} and eats {food} .",
    "a young {animal} is called a {young} .",
    "when the {animal} is hungry it looks for {food} near the {home} .",
    "at dusk the {animal} {voice} in the {home} .",
    "{person} saw the {colour} {animal} by the {home} on {weekday} .",
    "the {animal} {voice} , and its {young} answers from the {home} .",
    "{person} gave {food} to the {animal} and its {young} .",
    "do not frighten the {animal} : its {young} sleeps in the {home} .",
    "which animal {voice} and eats {food} ? the {animal} does .",
]
TOOL_TEMPLATES = [
    "the {trade} {work} {object} with {article} {tool} .",
    "in the {place} the {trade} {work} the {object} .",
    "{person} is a {trade} and keeps {article} {tool} in the {place} .",
    "{material} makes the best {tool} , says the {trade} .",
    "the {trade} lost the {tool} , so nobody {work} the {object} on {weekday} .",
    "{person} the {trade} bought {article} {tool} of {material} for {number} coins .",
    "what does the {trade} use in the {place} ? {article} {tool} of {material} .",
    "without the {tool} the {trade} never {work} {object} .",
]
VESSEL_TEMPLATES = [
    "the {vessel} carries {cargo} from {origin} to {target} .",
    "the {vessel} from {origin} lies at the {berth} .",
    "{crew} sail the {vessel} to {target} with {cargo} .",
    "at {hour} o'clock the {vessel} left the {berth} for {target} .",
    "{person} waits at the {berth} until the {vessel} comes from {origin} .",
    "on {weekday} the {vessel} brought {cargo} to {target} , and {crew} went ashore .",
]
MONTH_TEMPLATES = [
    "{month} is a month of {season} and brings {weather} .",
    "in {month} we {chore} and hold the {feast} .",
    "the {feast} comes in {month} , when there is {weather} .",
    "because of the {weather} nobody went to the {feast} in {month} .",
    "{person} likes {season} best , for then we {chore} .",
]
OPPOSITE_TEMPLATES = [
    "if it is not {one} it may be {other} .",
    "{one} is the opposite of {other} .",
    "{person} wanted it {one} , but it was {other} .",
]
VILLAGE_TEMPLATES = [
    "{village} lies by a {land} .",
    "the {folk} of {village} live by the {land} .",
    "from {village} to {elsewhere} it is {number} miles .",
    "{person} walked from {village} to {elsewhere} to meet the {folk} of {village} .",
]
SUM_TEMPLATES = [
    "{a} and {b} make {total} .",
    "{person} had {a} pears and got {b} more : now there are {total} .",
]

WEIGHTED_TEMPLATES = [
    (ANIMAL_TEMPLATES, 9),
    (TOOL_TEMPLATES, 9),
    (VESSEL_TEMPLATES, 5),
    (MONTH_TEMPLATES, 4),
    (VILLAGE_TEMPLATES, 3),
    (OPPOSITE_TEMPLATES, 2),
    (SUM_TEMPLATES, 2),
]

PROSE = """
Ellenport lies where the river meets the sea . Its quays are of grey stone , and its roofs are of red tile .
The harbour master opens the gate an hour before high water and shuts it an hour after . Whoever comes late
must anchor outside and wait for the next tide .

A tool that is put away clean is a tool that is found again . My grandmother oiled her shears each night ,
wrapped them in a cloth and hung them on the same nail . When I asked her why , she said that a nail is the
best memory in the house .

The keeper of the lighthouse lights the lamp at dusk and puts it out at dawn . He writes in a book how many
ships went by and what the wind did . On a night of fog he rings the bell by hand , and in the morning his
arms are sore , but no ship was lost .

The fish market begins before the sun is up . Boats come in with the last of the dark , boxes are swung onto
the quay , and the gulls know the hour as well as any clerk . By eight the scales are washed , the cobbles are
wet and shining , and the cats are asleep in the net loft .

When a ship is built , the keel comes first and the ribs follow . The planks are steamed until they bend , and
each seam is filled with oakum and pitch . On the day she is launched the whole town holds its breath , for a
ship that slides well will sail well , or so the old men say .

An otter and a heron once shared a pool . The otter fished by night and the heron by day , and neither ever
saw the other . Each believed that the pool was its own , and both were content .
"""


def fields(random):
    """A row of each kind of fact, chosen by `random`, as {slot: word}."""
    animal = dict(zip("animal young home food voice colour".split(), random.choice(ANIMALS), strict=True))
    tool = dict(
        zip("tool article trade work object place material".split(), random.choice(TOOLS), strict=True)
    )
    vessel = dict(zip("vessel cargo origin target crew berth".split(), random.choice(VESSELS), strict=True))
    month = dict(zip("month season weather chore feast".split(), random.choice(MONTHS), strict=True))
    ending, land, folk = random.choice(VILLAGE_ENDINGS)
    pair = random.sample(random.choice(OPPOSITES), 2)
    a = random.randrange(1, 10)
    b = random.randrange(1, 11 - a)
    count = ["", "one", *NUMBERS]
    return (
        animal
        | tool
        | vessel
        | month
        | {
            "village": random.choice(VILLAGE_PARTS) + ending,
            "elsewhere": random.choice(VILLAGE_PARTS) + random.choice(VILLAGE_ENDINGS)[0],
            "land": land,
            "folk": folk,
            "one": pair[0],
            "other": pair[1],
            "a": count[a],
            "b": count[b],
            "total": count[a + b],
            "person": random.choice(PEOPLE),
            "number": random.choice(NUMBERS),
            "weekday": random.choice(WEEKDAYS),
            "hour": random.choice(HOURS),
        }
    )


def sentence(random):
    templates = random.choices(*zip(*WEIGHTED_TEMPLATES, strict=True))[0]
    return random.choice(templates).format(**fields(random))


def prose_sentences():
    return [part.strip() + " ." for part in " ".join(PROSE.split()).split(" .") if part.strip()]
