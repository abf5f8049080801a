"""An agent's notes in a session, long enough that a model is asked about them."""

from __future__ import annotations

NOTES = (
    "The boiler in hall 3 was serviced by Marta Keller on 12 March and runs at 74 degrees again.",
    "We decided to move the pump test to Thursday 14:00 because the valve arrives on Wednesday.",
    "Lena will send the pressure log to the insurer by Friday.",
    "It is still unclear who pays for the second gasket set, 480 euros.",
    "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7.",
    "The night shift found no leak at line 9, but the gauge there is not calibrated.",
    "Rosa Lindqvist ordered twelve gaskets from Corwin in Hamburg, and they arrive on 3 April.",
    "Please call the crane firm before Monday, their number is 0401 2233.",
    "The insurer never answered our letter of 2 February, so that we need to write again.",
    "Everyone agreed that hall 5 stays closed until the inspection next Tuesday.",
    "The old compressor does not start below 5 degrees without the heater.",
    "Ben will check the heater tomorrow morning.",
)
